import type { Mutant } from '../mutant.ts';

const REPLICAS = 'test/apiserver/drain/replicas.test.ts';
const OWN_PODS = 'test/apiserver/drain/own-pods.test.ts';
const PREFLIGHT = 'test/apiserver/drain/preflight.test.ts';
const PROGRESS = 'test/apiserver/drain/progress.test.ts';
const ADMISSION = 'runtime/apiserver/drain/admission.ts';
const ENGINE = 'runtime/apiserver/drain/engine.ts';
const RUN = 'runtime/apiserver/drain/run.ts';

/** What a drain says: how many pods are left, why, and to whom. */
export const drainWordMutants: readonly Mutant[] = [
  {
    rule: 'the operator’s own pods that stay are in nobody’s way',
    without: 'the presumption that they go where nobody can tell: the drain of the others ends',
    file: 'runtime/apiserver/drain/elsewhere.ts',
    find: '.catch(() => true)',
    replace: '',
    tests: [OWN_PODS],
    name: 'goes on with the others',
  },
  {
    rule: 'a drain tells what blocks it once',
    without: 'the silence of a look that begins no drain',
    file: ADMISSION,
    find: '    if (considered.refusal) await refuse(ports, considered, considered.refusal);\n',
    replace:
      '    foretell(ports, considered);\n    if (considered.refusal) await refuse(ports, considered, considered.refusal);\n',
    tests: [PREFLIGHT],
    name: 'says nothing',
  },
  {
    rule: 'a refused drain names every pod',
    without: 'the pods that have no room in the status',
    file: ADMISSION,
    find: 'joinParts(reasons)',
    replace: 'joinParts(reasons.slice(0, 20))',
    tests: [PREFLIGHT],
    name: 'names every pod',
  },
  {
    rule: 'the operator’s own pods that stay are in nobody’s way',
    without: 'the look for another node, when pods are listed',
    file: 'runtime/apiserver/drain/survey.ts',
    find: 'const { own, staying } = await leaving(set, () => otherNodeTakesPods(transport, nodeName));',
    replace: 'const { own, staying } = set;',
    tests: [PREFLIGHT],
    name: 'where that pod stays',
  },
  {
    rule: 'the operator’s own pods that stay are in nobody’s way',
    without: 'the look for another node, when progress is counted',
    file: RUN,
    find: 'left = await leaving(set, () => (set.pods.length > 0 ? elsewhere.presumed() : elsewhere.now()));',
    replace: 'left = set;',
    tests: [OWN_PODS],
    name: 'counts none of the operator’s own',
  },
  {
    rule: 'the operator’s own pods that stay are in nobody’s way',
    without: 'the new look for another node when it is their turn',
    file: RUN,
    find: 'set.pods.length > 0 ? elsewhere.presumed() : elsewhere.now()',
    replace: 'elsewhere.presumed()',
    tests: [OWN_PODS],
    name: 'looks for another node',
  },
  {
    rule: 'the operator’s own pods that stay are in nobody’s way',
    without: 'the age of the answer: they are evicted on though no other node is left',
    file: 'runtime/apiserver/drain/elsewhere.ts',
    find: 'this.#clock.monotonic() < this.#freshUntil',
    replace: 'this.#freshUntil > 0',
    tests: [OWN_PODS],
    name: 'waits long',
  },
  {
    rule: 'a drain that ends says so',
    without: 'the word of a replica that nobody waits at',
    file: ENGINE,
    find: "end === 'empty' && running.waiters.count === 0",
    replace: 'end === undefined',
    tests: [PROGRESS],
  },
  {
    rule: 'a drain that ends says so',
    without: 'the waiter that says it anyway: each drain costs two requests more',
    file: ENGINE,
    find: ' && running.waiters.count === 0',
    replace: '',
    tests: ['test/apiserver/scripted/drain.test.ts'],
  },
  {
    rule: 'a drain that ends says so',
    without: 'the look whether the status still speaks of that drain',
    file: 'runtime/apiserver/drain/progress.ts',
    find: 'if (shadow?.status?.drain?.started_at !== since) return;',
    replace: 'if (!shadow) return;',
    tests: [PROGRESS],
  },
  {
    rule: 'a drain past its deadline says why',
    without: 'the reasons that are stated, where nobody has waited',
    file: ENGINE,
    find: 'new Map([...statedReasons(admitted.progress, left), ...(joined.blocked ?? [])])',
    replace: 'joined.blocked ?? new Map()',
    tests: [REPLICAS],
  },
  {
    rule: 'a drain past its deadline says why',
    without: 'the reasons that are stated, where the replica knows none yet',
    file: ADMISSION,
    find: '? statedReasons(stated, seen.left) : []',
    replace: '? [] : []',
    tests: [REPLICAS],
  },
  {
    rule: 'a drain past its deadline says why',
    without: 'the exception of pods that are ending, which nothing blocks any more',
    file: 'runtime/apiserver/drain/stated.ts',
    find: ' || pod.metadata.deletionTimestamp !== undefined',
    replace: '',
    tests: ['test/apiserver/drain/stated.test.ts'],
  },
  {
    rule: 'a log line names its request',
    without: 'the request of a drain',
    file: ENGINE,
    find: 'request === undefined ? {} : { request }',
    replace: '{}',
    tests: ['test/apiserver/request-log.test.ts'],
  },
  {
    rule: 'a log line names its request',
    without: 'the identity of the request on its way to the drain',
    file: 'runtime/apiserver/http/agent-routes.ts',
    find: 'gone, requestId(context))',
    replace: 'gone)',
    tests: ['test/apiserver/request-log.test.ts'],
  },
];
