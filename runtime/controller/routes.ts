import { type HttpRoute, probeRoutes } from '../lib/http.ts';
import type { Manager } from './manager.ts';
import { variablesOf } from './plan/snapshot.ts';

/** What the controller answers over plain HTTP. */
export function routesOf(manager: Manager): Readonly<Record<string, HttpRoute>> {
  const { registry } = manager.metrics;
  return {
    ...probeRoutes(() => manager.ready),
    '/metrics': async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() }),
    '/plan': () => ({ status: 200, contentType: 'application/json', body: `${JSON.stringify(report(manager))}\n` }),
  };
}

/** The verdicts of this moment, for people and for tools. */
function report(manager: Manager): object {
  const { verdicts, halted, warnings, policies, budget, requeueAt, snapshot, leading, leader } = manager.preview();
  const { slots, paused, notCurrent } = snapshot;
  const { window } = variablesOf(snapshot);
  const fleet = { paused, window, slots, places: budget, wakeAt: requeueAt, halted, warnings };
  return { leading, leader, ...fleet, policies, notCurrent, verdicts };
}
