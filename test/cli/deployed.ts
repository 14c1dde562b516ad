import { type Inspection, inspect } from '../../runtime/cli/inspect.ts';
import { CONTROLLER_DEPLOYMENT, NAMESPACE } from '../../runtime/shadow/names.ts';
import type { Stage } from '../controller/stage.ts';

/** A controller's Deployment that says `env`, and the same controller at work, until the signal aborts. */
export async function deploy(
  stage: Stage,
  more: Readonly<Record<string, string>> = {},
  signal = new AbortController().signal,
): Promise<void> {
  const env = { MAX_FAILED_UPDATE: 'unlimited', PROOF_NODES: '100%', ...more };
  await deployContainer(stage, {
    name: 'brupop',
    image: 'x',
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  });
  stage.start({ env, signal });
  await stage.pass();
}

export async function deployContainer(stage: Stage, container: object): Promise<void> {
  const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } };
  await stage.create(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
    metadata: { name: CONTROLLER_DEPLOYMENT },
    spec: { selector: { matchLabels: { app: 'x' } }, template },
  });
}

/** What `why` makes of the cluster as it is. */
export const seenOn = ({ transport, clock }: Stage): Promise<Inspection> =>
  inspect({ transport, namespace: NAMESPACE }, clock.now());
