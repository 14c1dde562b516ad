import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import { NODES_PATH } from '../../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../../runtime/api/policy/names.ts';
import { COMPONENTS, CONTROLLER_DEPLOYMENT, NAMESPACE, PAUSED_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { WORKLOAD_NAMESPACE } from '../../sim/world/workload.ts';
import { type AuditEvent, auditOf } from '../../../test/e2e/audit.ts';
import { kubectl } from '../../../test/e2e/kubectl.ts';
import { atRest, verdict } from '../../../test/e2e/looks.ts';
import { operatorRuns } from '../../../test/e2e/operator.ts';
import { type Scene, Stage } from '../../../test/e2e/scene.ts';
import { footprintMb } from '../process.ts';
import { ContainerLimits } from './limits.ts';
import { type RequestCount, requestsOf } from './requests.ts';
import { MOVES, type Scenario, SCENARIOS, GENTLE, TIMES } from './scenarios.ts';

/** What a rollout was, on the control plane that this process was started in. */
export interface RolloutResult {
  /** From the moment that the fleet may begin until the last node is at rest. */
  readonly wallMs: number;
  /** Of each process at the end, by component. */
  readonly memory: Readonly<Record<Component, readonly { readonly rss: number; readonly anonymous: number }[]>>;
  /** What the operator's accounts asked the API server meanwhile. */
  readonly requests: readonly RequestCount[];
  /** How often a pod of the workload was moved, on average. */
  readonly movesPerPod: number;
}

type Component = keyof typeof COMPONENTS;

/** Pods end within a second, so that a drain is the operator's own time. */
const SPEED = 5;
/** Nothing starts on a node that was made less than 30 s ago, which those of a fleet are not. */
const NEW_MS = 35_000;
/** Of the workload. */
const PODS_OF_A_NODE = 2;
const ZONE = 'topology.kubernetes.io/zone';

async function rollOut(scenario: Scenario): Promise<RolloutResult> {
  const limits = await ContainerLimits.create();
  const stage = await Stage.set();
  try {
    await stage.installOperator();
    await configure(scenario, stage.cluster.dir);
    const { transport } = stage.cluster;
    await pause(transport, true);
    const { nodes, times = TIMES } = scenario;
    const scene = await stage.startFleet({ nodes, speed: SPEED, times, enter: limits.enter });
    await operatorRuns(scene);
    for (const [index, name] of [...scene.fleet.nodes.keys()].entries())
      await merge(transport, nodePath(name), { labels: { [ZONE]: `zone-${index % scenario.zones}` } });
    await scene.until((history) =>
      [...scene.fleet.nodes.keys()].every((name) => verdict(history, name)?.reason === 'Paused'),
    );
    // They were placed while nodes joined: made anew, each node has as many.
    await kubectl('delete', 'pods', '--all', '-n', WORKLOAD_NAMESPACE);
    await systemClock.sleep(NEW_MS);
    const fromMs = systemClock.now();
    await pause(transport, false);
    await scene.until((history) => atRest(history, scene.options.to).length === nodes);
    const toMs = systemClock.now();
    await operatorRuns(scene);
    const memory = await memoryOf(scene);
    const events = await auditOf(stage.cluster);
    // An eviction of a pod that is ending already moves nothing.
    const moved = new Set(events.filter(isMove).map(({ objectRef }) => objectRef?.name));
    const movesPerPod = moved.size / (PODS_OF_A_NODE * nodes);
    return { wallMs: toMs - fromMs, memory, requests: requestsOf(events, { fromMs, toMs }), movesPerPod };
  } finally {
    await stage.strike();
    await limits.remove();
  }
}

/** An eviction that was let through. */
const isMove = ({ verb, objectRef, responseStatus }: AuditEvent): boolean =>
  verb === 'create' &&
  objectRef?.subresource === 'eviction' &&
  objectRef.namespace === WORKLOAD_NAMESPACE &&
  responseStatus?.code === 201;

async function configure({ places, policy: spec }: Scenario, dir: string): Promise<void> {
  const deployment = `deployment/${CONTROLLER_DEPLOYMENT}`;
  await kubectl('set', 'env', '-n', NAMESPACE, deployment, `MAX_CONCURRENT_UPDATE=${places}`);
  if (!spec) return;
  const file = join(dir, 'policy.json');
  const metadata = { name: 'fleet' };
  await writeFile(file, JSON.stringify({ apiVersion: POLICY_API_VERSION, kind: POLICY_KIND, metadata, spec }));
  await kubectl('apply', '-f', file);
}

async function pause(transport: KubeTransport, is: boolean): Promise<void> {
  const path = objectPath(collectionPath({ version: 'v1', plural: 'namespaces' }), NAMESPACE);
  await merge(transport, path, { annotations: { [PAUSED_ANNOTATION]: is ? 'the benchmark has not begun' : null } });
}

const nodePath = (name: string): string => objectPath(NODES_PATH, name);

async function merge(transport: KubeTransport, path: string, metadata: object): Promise<void> {
  const contentType = 'application/merge-patch+json';
  await transport.request({ method: 'PATCH', path, contentType, body: { metadata } });
}

async function memoryOf({ fleet }: Scene): Promise<RolloutResult['memory']> {
  const of = (component: Component) => Promise.all(fleet.pods.pids(COMPONENTS[component]).map(footprintMb));
  return { controller: await of('controller'), apiserver: await of('apiserver'), agent: await of('agent') };
}

const [name, file = ''] = process.argv.slice(2);
const all = [...SCENARIOS, ...MOVES, ...GENTLE];
const scenario = all.find((one) => one.name === name);
if (!scenario) throw new Error(`expected one of ${all.map((one) => one.name).join('; ')}`);
await writeFile(file, JSON.stringify(await rollOut(scenario)));
