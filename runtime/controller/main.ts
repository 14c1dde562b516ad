import { randomUUID } from 'node:crypto';
import { connect } from '../kube/access.ts';
import { serveHttp } from '../lib/http.ts';
import { type ProcessContext, runProcess } from '../lib/process.ts';
import { type ControllerConfig, controllerEnv, readControllerConfig } from './config.ts';
import { createController } from './controller.ts';
import { routesOf } from './routes.ts';
import { userAgent } from '../kube/https.ts';

async function run(config: ControllerConfig, { signal, logger, clock, random }: ProcessContext): Promise<void> {
  const { transport, namespace } = await connect(config, userAgent('controller'));
  // A restarted process is another holder: nobody may take its writes for those of the one before.
  const identity = `${config.MY_POD_NAME || config.MY_NODE_NAME}_${randomUUID()}`;
  // A kubelet starts a pod's container anew only after the one before is gone, and no other pod bears this name.
  const isPredecessor = (holder: string): boolean =>
    config.MY_POD_NAME !== '' && holder.startsWith(`${config.MY_POD_NAME}_`);
  const controller = createController({ transport, namespace, clock, random, logger, config, identity, isPredecessor });
  await serveHttp({ port: config.HTTP_PORT, routes: routesOf(controller), signal });
  await controller.run(signal);
}

await runProcess({
  name: 'brupop-controller',
  summary: 'Decides which Bottlerocket node is updated when, and says why.',
  env: controllerEnv,
  read: readControllerConfig,
  run,
});
