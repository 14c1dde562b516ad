import { rfc3339 } from '../../lib/clock.ts';
import type { ReleaseResource } from '../../api/resources.ts';
import { compare } from '../../controller/plan/facts/snapshot.ts';
import type { Command } from '../command.ts';
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
    const known = await knownReleases(await connect());
    const missing = names.find((name) => releasesCalled(known, name).length === 0);
    if (missing !== undefined) throw noRelease(known, missing);
    const asked = new Set(names.flatMap((name) => releasesCalled(known, name)));
    const shown = names.length === 0 ? known : known.filter((one) => asked.has(one));
    return {
      value: { at: rfc3339(clock.now()), releases: shown.map(releaseValue) },
      lines: (terminal) =>
        shown.length === 0 ? ['the cluster knows no release yet'] : shown.flatMap((one) => releaseLines(one, terminal)),
    };
  },
};

const byName = <T>(record: Readonly<Record<string, T>> | null | undefined): readonly (readonly [string, T])[] =>
  Object.entries(record ?? {}).toSorted(([a], [b]) => compare(a, b));

function releaseValue(release: ReleaseResource): object {
  const { metadata, spec, status } = release;
  return {
    name: metadata.name,
    version: spec.version,
    family: spec.family,
    decision: spec.decision ?? 'Automatic',
    state: status?.state,
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
  };
}

const DECIDED = { Automatic: [], Halt: ['by a person: halt'], Allow: ['by a person: allow'] } as const;

function releaseLines(release: ReleaseResource, terminal: Terminal): readonly string[] {
  const { spec, status } = release;
  const state = status?.state ?? 'not offered yet';
  const said = [
    paint(terminal, state === 'Halted' ? 'bad' : 'good', state),
    ...DECIDED[spec.decision ?? 'Automatic'],
    ...sinceText('offered', status?.firstOfferedAt),
    ...sinceText('unused', status?.unusedSince),
  ];
  return [
    `${calledOf(release)}: ${said.join(', ')}`,
    ...byName(status?.policies).map(([name, { provenAt, haltedAt, limit, completedAt }]) => {
      const now = [...sinceText('proven', provenAt), ...sinceText('complete', completedAt)];
      const halted = sinceText('halted', haltedAt).map((text) => `${text} (${limit ?? '?'} may fail)`);
      return `  ${placeText(name)}: ${[...halted, ...now].join(', ') || 'being proven'}`;
    }),
    ...table(
      failuresOf(release).map(({ node, reason, policy, at }) => [`  failed: ${node}`, reason, at, placeText(policy)]),
      terminal,
    ),
  ];
}

const placeText = (policy: string): string => (policy === '' ? 'the variables' : `policy ${policy}`);

const sinceText = (what: string, at: string | null | undefined): readonly string[] =>
  at == null ? [] : [`${what} since ${at}`];
