import { nameOf, releasePublished, rolloutComplete, rolloutHalted, rolloutResumed, rolloutStarted } from './events.ts';
import { type Planned, type Statement, type Statements, topicOf } from './statements.ts';

/** Releases that nobody is offered yet, as their ledgers come to say that they are out: that is written once, whoever leads. */
export function newlyPublished({ plan, lease }: Planned): readonly Statement[] {
  return plan.ledger.flatMap(({ family, version, seen, ledger }): Statement[] => {
    if (ledger?.state !== 'Published' || seen?.ledger.published != null) return [];
    const of = nameOf({ family, version });
    const about = { family, version };
    const told = { event: releasePublished(lease, of), isRecorded: true, isRepeated: false, about };
    return [{ kind: 'published', of, value: 'out', ...told }];
  });
}

/**
 * Rollouts on the nodes that the variables rule; a policy tells of its own. A rollout starts when the first node is on its way, and only one
 * that has started is told complete.
 */
export function rollouts({ plan, lease }: Planned, before: Statements): readonly Statement[] {
  const has = (of: string): boolean => before.has(topicOf({ kind: 'rollout', of }));
  return plan.releases.flatMap((release): Statement[] => {
    const name = nameOf(release);
    const [started, complete] = [`${name} started`, `${name} complete`];
    const common = { kind: 'rollout', value: 'reached', isRecorded: false, isRepeated: false } as const;
    const about = { family: release.family, version: release.version };
    const follows = topicOf({ kind: 'rollout', of: started });
    return [
      ...(release.underWay || has(started)
        ? [{ ...common, of: started, event: rolloutStarted(lease, name), about }]
        : []),
      ...(release.complete || has(complete)
        ? [{ ...common, of: complete, event: rolloutComplete(lease, name), follows, about }]
        : []),
    ];
  });
}

/**
 * Halted releases on the nodes that the variables rule; a policy tells of its own. A halted version that no node is offered any more stays
 * halted: no node may start on it, and none would.
 */
export function releases({ plan, lease }: Planned, before: Statements): readonly Statement[] {
  const halted = new Map(
    plan.halted.filter(({ policy }) => policy === undefined).map((release) => [nameOf(release), release]),
  );
  const earlier = [...before.values()].filter(({ kind, value }) => kind === 'release' && value === HALTED);
  const offered = plan.offered.filter(({ policy }) => policy === undefined);
  const now = offered.map(({ family, version }): Statement => {
    const of = nameOf({ family, version });
    const common = { kind: 'release', isRepeated: true, about: { family, version } } as const;
    const release = halted.get(of);
    const topic = topicOf({ kind: 'release', of });
    return release
      ? Object.assign({ of, value: HALTED, event: rolloutHalted(lease, release), isRecorded: true }, common)
      : Object.assign(
          { of, value: 'open', event: rolloutResumed(lease, of), isRecorded: before.has(topic), follows: topic },
          common,
        );
  });
  // Offered releases come last, so that they replace what was said of them before.
  return [...earlier, ...now];
}

const HALTED = 'halted';
