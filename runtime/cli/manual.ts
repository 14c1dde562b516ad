/** What `--help` of a command shows besides its options. */
interface Manual {
  /** Without the program's name. */
  readonly examples: readonly string[];
  /** The fields of its JSON besides apiVersion. One with `?` can be missing. Times are RFC 3339. */
  readonly fields: string;
}

const CHANGES = 'dryRun, done (object, changed, says, undo?), failed (object, error)';
const SEEN = 'at, noLeader, notKnown, halted';

/** By the name of the command. */
export const MANUAL: Readonly<Record<string, Manual>> = {
  status: {
    examples: ['status -w', 'status --exit-code'],
    fields: `${SEEN}, paused, counts, policies, families, reaches, needsYou, updating, waiting, pace`,
  },
  wait: { examples: ['wait --policy prod --timeout 2h'], fields: 'at, for, met, left (node, reason)' },
  dashboard: { examples: ['dashboard --no-open --port 8765'], fields: 'url' },
  why: {
    examples: ['why', 'why node-1'],
    fields:
      'at, source, noLeader, notKnown, nodes (node, reason, message, since?, until?, ...); of the fleet also paused?, policies?, halted?, warnings?',
  },
  timeline: {
    examples: ['timeline node-1 --since 2h'],
    fields: 'notKnown, moments (at, object, source, reason, message, count?)',
  },
  history: {
    examples: ['history --since 2h'],
    fields: 'notKnown, moments (at, object, source, reason, message, count?)',
  },
  logs: { examples: ['logs node-1 --since 10m'], fields: 'node, notKnown, lines (at, component, pod, text)' },
  report: { examples: ['report', 'report -f brupop.json'], fields: 'file, kb, contains, notKnown' },
  releases: {
    examples: ['releases', 'releases 1.40.0'],
    fields:
      'at, releases (name, version, family, decision, state, policies, ...), proven (policy, version, family, since, object)',
  },
  leftovers: { examples: ['leftovers'], fields: 'leftovers (node, whose, what)' },
  plan: {
    examples: ['plan --until-done', 'plan --until-done --set MAX_CONCURRENT_UPDATE=3'],
    fields: `${SEEN}, starts, drainsThatCannotEnd, drainsWithoutRoom, drainsThatLetFinish; of a plan nextChangeAt?, nodes?, preferences?, arrivals?; with --until-done endsAt?, mostAtOnce?, left?, isCut?, typicalSeconds?, isDurationAssumed?, areChecksAssumed?`,
  },
  pause: { examples: ["pause --by 'ann: trade day'", 'pause prod'], fields: CHANGES },
  resume: { examples: ['resume', 'resume prod'], fields: CHANGES },
  hold: { examples: ["hold node-1 --by 'ann: kernel bug'", 'hold -l pool=db'], fields: CHANGES },
  unhold: { examples: ['unhold node-1', 'unhold -l pool=db'], fields: CHANGES },
  now: { examples: ['now node-1', 'now -l pool=test'], fields: CHANGES },
  retry: { examples: ['retry node-1', 'retry -l pool=db'], fields: CHANGES },
  halt: { examples: ["halt 1.40.0 --by 'ann: kernel bug'"], fields: CHANGES },
  allow: { examples: ['allow 1.40.0'], fields: CHANGES },
  expedite: { examples: ["expedite 1.40.0 --by 'ann: CVE'", 'expedite 1.40.0 --policy prod'], fields: CHANGES },
  approve: { examples: ['approve 1.40.0 --policy prod'], fields: CHANGES },
  rollback: {
    examples: ['rollback 1.40.0 --dry-run', "rollback 1.40.0 --policy prod --by 'ann: kernel bug'"],
    fields: `${CHANGES}, nodes (node, family, runs, to?, stays?, doubt?), notKnown`,
  },
  clear: { examples: ['clear 1.40.0', 'clear 1.40.0 node-1'], fields: CHANGES },
  cleanup: { examples: ['cleanup node-1', 'cleanup -l pool=db --dry-run'], fields: CHANGES },
  notify: { examples: ['notify test', 'notify test pager'], fields: 'dryRun, targets' },
  doctor: {
    examples: ['doctor', 'doctor --pre', 'doctor --wait --timeout 10m'],
    fields: 'problems, findings (check, state, says, todo?)',
  },
};

/** @param program its name in command lines */
export function manualLines(command: string, program: string): readonly string[] {
  const { examples = [], fields = '' } = MANUAL[command] ?? {};
  return ['Examples:', ...examples.map((one) => `  ${program} ${one}`), '', `JSON: ${fields}`];
}
