import { connect } from '../kube/access.ts';
import { serveHttp } from '../lib/http.ts';
import { type ProcessContext, runProcess } from '../lib/process.ts';
import { type ControllerConfig, controllerEnv, readControllerConfig } from './config.ts';
import { createController } from './controller.ts';
import { newIdentity } from './identity.ts';
import { routesOf } from './routes.ts';
import { userAgent } from '../kube/https.ts';

async function run(config: ControllerConfig, { signal, logger, clock, random }: ProcessContext): Promise<void> {
  const { transport, namespace } = await connect(config, userAgent('controller'));
  const controller = createController({ transport, namespace, clock, random, logger, config, ...newIdentity(config) });
  await serveHttp({ port: config.HTTP_PORT, routes: routesOf(controller), logger, signal });
  await controller.run(signal);
}

await runProcess({
  name: 'brupop-controller',
  summary: 'Decides which Bottlerocket node is updated when, and says why.',
  env: controllerEnv,
  read: readControllerConfig,
  run,
});
