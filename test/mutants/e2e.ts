import type { Mutant } from './mutant.ts';

const INVARIANTS = { file: 'test/e2e/invariants.ts', tests: ['test/e2e/invariants.test.ts'] } as const;
const AUDIT = { file: 'test/e2e/audit.ts', tests: ['test/e2e/audit.test.ts'] } as const;

/** The scenarios' own eyes: what they would overlook without it. */
export const e2eMutants: readonly Mutant[] = [
  {
    ...INVARIANTS,
    rule: 'concurrency is counted over nodes that bear marks',
    without: 'more nodes than may be are not told',
    find: 'if (marked.size > concurrency)',
    replace: 'if (marked.size > 2 * concurrency)',
  },
  {
    ...INVARIANTS,
    rule: 'states are looked at in the order of their versions',
    without: 'they are taken as they were told',
    find: ".filter(isOf<Node>('nodes')).toSorted(inOrder)",
    replace: ".filter(isOf<Node>('nodes'))",
  },
  {
    ...INVARIANTS,
    rule: 'a node that is gone has taken its marks along',
    without: 'it counts for ever',
    find: 'if (gone || annotations[MARKS_ANNOTATION] === undefined)',
    replace: 'if (annotations[MARKS_ANNOTATION] === undefined)',
  },
  {
    ...INVARIANTS,
    rule: 'a cordon is that of whoever made it',
    without: 'it is that of the last to write the node',
    find: 'authors.set(uid, author ?? by)',
    replace: 'authors.set(uid, by)',
  },
  {
    ...INVARIANTS,
    rule: 'the operator may take away its own cordon',
    without: 'each release of a node is a breach',
    find: 'author && !isOperator(author) && isOperator(by)',
    replace: 'author && isOperator(by)',
  },
  {
    ...INVARIANTS,
    rule: 'a pod is on its node until it is gone',
    without: 'only its finish counts as its end',
    find: 'gone || hasFinished(object)',
    replace: 'hasFinished(object)',
  },
  {
    ...INVARIANTS,
    rule: 'pods of DaemonSets and static pods stay',
    without: 'they must be gone as well',
    find: '.filter(({ pod }) => isDrained(pod))',
    replace: '',
  },
  {
    ...AUDIT,
    rule: 'a refused write changed nothing',
    without: 'it counts as written',
    find: '(responseStatus?.code ?? 500) < 300',
    replace: 'true',
  },
  {
    ...AUDIT,
    rule: 'a deletion with grace has only begun',
    without: 'the pod counts as gone at once',
    find: "verb === 'delete' && object.metadata.deletionGracePeriodSeconds === 0",
    replace: "verb === 'delete'",
  },
  {
    ...AUDIT,
    rule: 'who acts in the name of another is not the author',
    without: 'the one who asked is',
    find: 'impersonatedUser?.username ?? user?.username',
    replace: 'user?.username',
  },
  {
    rule: 'what is stopped stays so',
    without: 'it is started again as what was killed is',
    file: 'test/e2e/controlplane/daemon.ts',
    find: 'if (!signal.aborted) this.start();',
    replace: 'this.start();',
    tests: ['test/e2e/controlplane/daemon.test.ts'],
  },
  {
    file: 'sim/world/volume.ts',
    tests: ['test/sim/world/volume.test.ts'],
    rule: 'a volume that has not changed is left alone',
    without: 'its link is swapped at every look',
    find: 'if (before !== undefined && isDeepStrictEqual(await readAll(join(dir, before)), files)) return;',
    replace: '',
  },
  {
    file: 'sim/world/volume.ts',
    tests: ['test/sim/world/volume.test.ts'],
    rule: 'the files of an older version are gone',
    without: 'who looked up the link before reads them for ever',
    find: 'if (before !== undefined) await rm(join(dir, before), { recursive: true });',
    replace: '',
  },
  {
    file: 'sim/world/pod-token.ts',
    tests: ['test/sim/world/pod-token.test.ts'],
    rule: 'a token is renewed before its end',
    without: 'it is kept to the last second',
    find: '(exp - iat) * RENEW_AFTER',
    replace: '(exp - iat)',
  },
  {
    file: 'sim/world/pod-files.ts',
    tests: ['test/sim/world/pod-files.test.ts'],
    rule: "the API server's own volume is not mounted over the service account",
    without: 'its CA and namespace vanish',
    find: 'if (!volume || mountPath === ACCOUNT_PATH) continue;',
    replace: 'if (!volume) continue;',
  },
];
