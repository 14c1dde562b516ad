import { type HttpRoute, probeRoutes } from '../lib/http.ts';
import type { Controller } from './controller.ts';

/** What the controller answers over plain HTTP. */
export function routesOf(controller: Controller): Readonly<Record<string, HttpRoute>> {
  return {
    ...probeRoutes(() => controller.ready),
    '/metrics': async () => {
      controller.outlook();
      const { registry } = controller.metrics;
      return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
    },
    '/plan': () => ({ status: 200, contentType: 'application/json', body: `${JSON.stringify(report(controller))}\n` }),
  };
}

/** The verdicts of this moment, for people and for tools. */
function report(controller: Controller): object {
  const { verdicts, halted, warnings, places, wakeAt, snapshot, leading, leader } = controller.outlook();
  const { slots, window, paused } = snapshot;
  return { leading, leader, paused, window, slots, places, wakeAt, halted, warnings, verdicts };
}
