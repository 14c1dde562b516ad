import { rfc3339 } from '../../lib/clock.ts';
import type { ReleaseResource } from '../../api/resources.ts';
import type { ClearedAttempt } from '../../api/release/model.ts';
import { compare } from '../../controller/plan/facts/snapshot.ts';
import type { Reach } from '../waves/turns.ts';
import { reachText } from '../waves/words.ts';
import type { Command } from '../command.ts';
import { timeValue } from '../output/output.ts';
import { reachIn, readWaves } from '../waves/waves.ts';
import { provenIn } from '../proven.ts';
import { decidedOn, expeditedOn, isRolledBack } from '../../api/release/decided.ts';
import { ANY_POLICY } from '../../api/release/names.ts';
import { byWhom } from '../../api/shadow/asked.ts';
import { paint, table, type Terminal } from '../output/terminal.ts';
import { calledOf, failuresOf, knownReleases, noRelease, releasesCalled } from '../known-releases.ts';

export const releases: Command = {
  name: 'releases',
  args: '[RELEASE...]',
  summary: 'show releases: where each is offered, proven or halted, and who failed on it',
  details: `RELEASE is a version, for every variant and architecture, or the name of one BottlerocketRelease. Failures are kept until the node succeeds,
or until clear.`,
  options: {},
  maxArgs: Infinity,
  async run({ names, clock, connect }) {
    const cluster = await connect();
    const known = await knownReleases(cluster);
    const missing = names.find((name) => releasesCalled(known, name).length === 0);
    if (missing !== undefined) throw noRelease(known, missing);
    const asked = new Set(names.flatMap((name) => releasesCalled(known, name)));
    const shown = names.length === 0 ? known : known.filter((one) => asked.has(one));
    const waves = await readWaves(cluster, known);
    const now = clock.now();
    const reached = shown.map((one) => [one, reachIn(waves, one.spec, now)] as const);
    const values = reached.map(([one, reach]) => releaseValue(one, reach));
    return {
      value: { at: rfc3339(now), releases: values, proven: provenIn(shown) },
      lines: (terminal) =>
        shown.length === 0
          ? ['the cluster knows no release yet']
          : reached.flatMap(([one, reach]) => releaseLines(one, reach, terminal)),
    };
  },
};

const byName = <T>(record: Readonly<Record<string, T>> | null | undefined): readonly (readonly [string, T])[] =>
  Object.entries(record ?? {}).toSorted(([a], [b]) => compare(a, b));

function releaseValue(release: ReleaseResource, reach: Reach | undefined): object {
  const { metadata, spec, status } = release;
  return {
    name: metadata.name,
    version: spec.version,
    family: spec.family,
    ...decisionsOf(spec),
    decided: decidedOn(release),
    expedited: expeditedOn(release),
    state: status?.state,
    publishedSince: status?.published?.firstSeenAt,
    reach: reach && { ...reach, halfBy: timeValue(reach.halfBy), allBy: timeValue(reach.allBy) },
    offeredSince: status?.firstOfferedAt,
    unusedSince: status?.unusedSince,
    policies: byName(status?.policies).map(([name, { provenAt, haltedAt, limit, completedAt }]) => ({
      name: name === '' ? null : name,
      provenSince: provenAt,
      haltedSince: haltedAt,
      limit,
      completedAt,
    })),
    failures: failuresOf(release).map(({ node, policy, reason, at, attempt }) => ({
      node,
      policy: policy === '' ? null : policy,
      reason,
      at,
      attempt,
    })),
    cleared: clearedOf(release).map(({ node, by, at, attempt }) => ({ node, by, at, attempt })),
  };
}

const decisionsOf = ({ decision = 'Automatic', rollbackFor, expediteFor }: ReleaseResource['spec']): object => ({
  decision,
  rollbackFor: rollbackFor ?? [],
  expediteFor: expediteFor ?? [],
});

const DECIDED = { Automatic: undefined, Halt: 'by a person: halt', Allow: 'by a person: allow' } as const;

const clearedOf = ({ status }: ReleaseResource): readonly ClearedAttempt[] =>
  Object.values(status?.cleared ?? {}).toSorted((a, b) => compare(a.at, b.at));

function releaseLines(release: ReleaseResource, reach: Reach | undefined, terminal: Terminal): readonly string[] {
  const { status } = release;
  return [
    `${calledOf(release)}: ${standingText(release, terminal)}`,
    ...(reach ? [`  waves: ${reachText(reach)}`] : []),
    ...byName(status?.policies).map(([name, { provenAt, haltedAt, limit, completedAt }]) => {
      const now = [...sinceText('proven', provenAt), ...sinceText('complete', completedAt)];
      const halted = sinceText('halted', haltedAt).map((text) => `${text} (${limit ?? '?'} may fail)`);
      return `  ${placeText(name)}: ${[...halted, ...now].join(', ') || 'being proven'}`;
    }),
    ...table(
      failuresOf(release).map(({ node, reason, policy, at }) => [`  failed: ${node}`, reason, at, placeText(policy)]),
      terminal,
    ),
    ...clearedOf(release).map(
      ({ node, by, at }) => `  cleared: ${node ?? 'a node'}${byWhom(by == null ? undefined : { by, at })}`,
    ),
  ];
}

function standingText(release: ReleaseResource, terminal: Terminal): string {
  const { state, published, firstOfferedAt, unusedSince } = release.status ?? {};
  return [
    paint(terminal, state === 'Halted' ? 'bad' : 'good', state ?? 'not offered yet'),
    ...decisionTexts(release),
    ...sinceText('published', published?.firstSeenAt),
    ...sinceText('offered', firstOfferedAt),
    ...sinceText('unused', unusedSince),
  ].join(', ');
}

function decisionTexts(release: ReleaseResource): readonly string[] {
  const { spec } = release;
  const said = isRolledBack(spec)
    ? `by a person: rollback (${spec.rollbackFor?.map(nodesOfText).join(', ')})`
    : DECIDED[spec.decision ?? 'Automatic'];
  const ahead = spec.expediteFor?.map(nodesOfText) ?? [];
  return [
    ...(said === undefined ? [] : [`${said}${byWhom(decidedOn(release))}`]),
    ...(ahead.length > 0 ? [`expedited (${ahead.join(', ')})${byWhom(expeditedOn(release))}`] : []),
  ];
}

const nodesOfText = (policy: string): string => (policy === ANY_POLICY ? 'all nodes' : `policy ${policy}`);

const placeText = (policy: string): string => (policy === '' ? 'the variables' : `policy ${policy}`);

const sinceText = (what: string, at: string | null | undefined): readonly string[] =>
  at == null ? [] : [`${what} since ${at}`];
