import { NAMESPACE } from '../api/shadow/names.ts';
import { connect } from '../kube/kubeconfig.ts';
import { userAgent } from '../kube/https.ts';
import { serveHttp } from '../lib/http.ts';
import { type ProcessContext, runProcess } from '../lib/process.ts';
import { type ControllerConfig, controllerEnv, readControllerConfig } from '../controller/config.ts';
import { channelOrders } from '../controller/k3os/channels.ts';
import { readInChild } from '../controller/repositories/child.ts';
import { createManager, newIdentity, routesOf } from '../controller/manager.ts';
import { notificationsOf } from '../controller/telling/notifications/notifications.ts';

async function run(config: ControllerConfig, { signal, logger, clock, random }: ProcessContext): Promise<void> {
  const { transport, namespace } = await connect(
    { ...config, namespace: NAMESPACE },
    { userAgent: userAgent('controller') },
  );
  const ordersOf = config.K3OS_NAMESPACE === '' ? undefined : channelOrders;
  const notifierOf = config.NOTIFICATIONS_DIR === '' ? undefined : notificationsOf;
  const readRepository = readInChild(clock);
  const parts = { transport, namespace, clock, random, logger, config, ordersOf, notifierOf, readRepository };
  const manager = createManager({ ...parts, ...newIdentity(config, random) });
  await serveHttp({ port: config.HTTP_PORT, routes: routesOf(manager), logger, signal });
  await manager.run(signal);
}

await runProcess({
  name: 'brupop-controller',
  summary: 'Decides which Bottlerocket node is updated when, and says why.',
  env: controllerEnv,
  read: readControllerConfig,
  run,
});
