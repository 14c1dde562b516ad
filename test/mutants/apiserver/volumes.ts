import type { Mutant } from '../mutant.ts';

const VOLUMES = 'runtime/apiserver/drain/volumes.ts';
const HELD = { rule: 'M9', file: VOLUMES, tests: ['test/apiserver/drain/volumes.test.ts'] } as const;

/** How long a drained node is kept from its reboot for the sake of volumes. */
export const volumeMutants: readonly Mutant[] = [
  {
    ...HELD,
    without: 'the wait: pods elsewhere want volumes that a node has taken down with it',
    find: "  if (inUse.length === 0) return { kind: 'go', inUse };\n",
    replace: "  if (inUse.length >= 0) return { kind: 'go', inUse: [] };\n",
  },
  {
    ...HELD,
    without: 'whose volumes they are: those of pods that stay keep every drain for two minutes',
    find: 'inUse.filter((volume) => !names?.includes(volume))',
    replace: 'inUse.filter(() => names !== null)',
  },
  {
    ...HELD,
    without: 'the claims that pods make for themselves',
    find: 'volume.ephemeral ? `${name}-${volume.name}` : ',
    replace: '',
  },
  {
    ...HELD,
    without: 'the time: a volume that stays in use keeps its drain for ever',
    find: "return ms > 0 ? { kind: 'wait', ms } : { kind: 'go', inUse };",
    replace: "return { kind: 'wait', ms };",
  },
  {
    ...HELD,
    without: 'the one count for a drain: it begins anew with each replica',
    find: '  const ms = since + timeoutMs - now;',
    replace: '  const ms = timeoutMs;',
  },
  {
    ...HELD,
    without: 'the new count where a clock is ahead: the drain is kept for the difference, too',
    find: ' || since > now',
    replace: '',
  },
  {
    ...HELD,
    without: 'the one count for a drain: it begins anew with each cordon',
    file: 'runtime/marks/patches.ts',
    find: 'volumesSince: before?.id === id ? before.volumesSince : undefined',
    replace: 'volumesSince: undefined',
  },
  {
    ...HELD,
    without: 'the count of the next boot: it has no time left',
    file: 'runtime/marks/patches.ts',
    find: 'volumesSince: before?.id === id ? before.volumesSince : undefined',
    replace: 'volumesSince: before?.volumesSince',
  },
  {
    ...HELD,
    without: 'the look for pods after the wait',
    file: 'runtime/apiserver/drain/engine.ts',
    find: '    if (!inUse) return false;\n',
    replace: '    if (!inUse) return true;\n',
  },
  {
    ...HELD,
    without: 'the end of the wait where the drain is another’s',
    find: '      if (!now || readMarks(now)?.id !== id || now.spec?.unschedulable !== true) return;\n',
    replace: '',
  },
];
