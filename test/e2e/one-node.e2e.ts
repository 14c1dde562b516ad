import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { COMPONENTS, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/api/shadow/semver.ts';
import { imageCommand } from '../../lab/sim/world/programs.ts';
import { ProcessView } from './process-view.ts';
import { invariants } from './invariants.ts';
import { operatorPods, operatorRuns } from './operator.ts';
import { type Scene, Stage } from './scene.ts';

/** What a kubelet and the image add to what a pod states, and where its program listens. */
const BESIDE = ['HTTP_PORT', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT', 'PATH'];
const VARIABLES_BESIDE = { agent: BESIDE, controller: BESIDE, apiserver: ['APISERVER_INTERNAL_PORT', ...BESIDE] };

let stage: Stage;
let scene: Scene;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
}, 90_000);

afterAll(() => stage.strike(), 60_000);

test('the only node, with the whole operator on it, rolls over and comes back with all of it', async () => {
  scene = await stage.startFleet({ nodes: 1 });
  await scene.rolledOver();

  const [node] = scene.history.nodes.values();
  expect(versionOfOsImage(node?.status?.nodeInfo?.osImage)).toBe('1.39.0');
  expect(node?.spec?.unschedulable).toBeUndefined();
  expect(scene.fleet.reboots).toHaveLength(1);
  // Nowhere else could they go, and somebody has to bring the node back.
  expect(await invariants(scene, { stays: ({ metadata }) => metadata.namespace === NAMESPACE })).toEqual([]);
  await operatorRuns(scene);
});

test("each process has its pod's command, environment and files, but for the ports, which all pods share", () => {
  const account = '/var/run/secrets/kubernetes.io/serviceaccount';
  const files = (component: keyof typeof COMPONENTS): readonly (readonly string[])[] => {
    const [pod] = operatorPods(scene, COMPONENTS[component]);
    const inside = new ProcessView(scene.fleet.pods.pids(COMPONENTS[component])[0] ?? 0);
    expect(inside.command()).toEqual(pod && imageCommand(pod));
    expect(pod && inside.variablesBeside(pod)).toEqual(VARIABLES_BESIDE[component]);
    expect(['/', '/bin/node', '/opt/brupop', '/usr/lib', account].filter((path) => inside.isWritable(path))).toEqual(
      [],
    );
    return ['/etc', '/etc/brupop-tls-keys', account, '/var/run/secrets/tokens', '/run'].map((path) =>
      inside.names(path),
    );
  };
  const own = ['ca.crt', 'namespace', 'token'];
  const etc = ['brupop-tls-keys', 'hosts', 'nsswitch.conf'];
  const token = ['bottlerocket-agent-service-account-token'];
  expect(files('agent')).toEqual([etc, ['ca.crt'], own, token, ['api.sock']]);
  expect(files('apiserver')).toEqual([etc, ['ca.crt', 'tls.crt', 'tls.key'], own, [], []]);
  expect(files('controller')).toEqual([etc.slice(1), [], own, [], []]);
});
