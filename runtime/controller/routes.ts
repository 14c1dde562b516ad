import { type HttpRoute, probeRoutes } from '../lib/http.ts';
import type { Manager } from './manager.ts';
import { planReport } from './plan-report.ts';

/** What the controller answers over plain HTTP. */
export function routesOf(manager: Manager): Readonly<Record<string, HttpRoute>> {
  const { registry } = manager.metrics;
  return {
    ...probeRoutes(() => manager.ready),
    '/metrics': async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() }),
    '/plan': () => ({
      status: 200,
      contentType: 'application/json',
      body: `${JSON.stringify(planReport(manager.preview()))}\n`,
    }),
  };
}
