import type { PlanReport } from '../controller/plan-report.ts';
import { ApiStatusError } from '../kube/errors.ts';
import { collectionPath } from '../kube/paths.ts';
import type { Clock } from '../lib/clock.ts';
import { VERSION } from '../lib/version.ts';
import { CONTROLLER_PORT_NAME, CONTROLLER_SERVICE, PLAN_SCHEMA } from '../shadow/names.ts';
import type { Cluster } from './command.ts';

/** The leader's own plan, or why it could not be had: a clause that follows "the leader's own plan: ". */
export type LeaderPlan = { readonly report: PlanReport } | { readonly missing: string };

/** A person waits for so long before the plan is made here, milliseconds. */
const PATIENCE_MS = 2000;

/** What the API server lets somebody ask who may `get` `services/proxy` of this name. */
export const PLAN_PROXY = `http:${CONTROLLER_SERVICE}:${CONTROLLER_PORT_NAME}`;

/** Asks the leader for its plan. It may take several tries: the Service leads to any controller, and the others only know who leads. */
export async function askLeader({ transport, namespace }: Cluster, clock: Clock): Promise<LeaderPlan> {
  const services = collectionPath({ version: 'v1', plural: 'services', namespace });
  const path = `${services}/${PLAN_PROXY}/proxy/plan`;
  const end = clock.monotonic() + PATIENCE_MS;
  try {
    for (;;) {
      const timeoutMs = end - clock.monotonic();
      if (timeoutMs <= 0) return { missing: 'it did not answer in time' };
      const said = (await transport.request({ method: 'GET', path, timeoutMs })) as Partial<PlanReport>;
      const { schema, version, leading, leader } = said;
      if (schema !== PLAN_SCHEMA || version !== VERSION)
        return { missing: `the controller is version ${version ?? 'older'}, and this is ${VERSION}` };
      if (leading) return { report: decoded(said as PlanReport) };
      if (leader === undefined) return { missing: 'nobody leads' };
      await clock.sleep(RETRY_MS);
    }
  } catch (error) {
    return { missing: whyMissing(error) };
  }
}

/** Another try may lead to the leader, milliseconds. */
const RETRY_MS = 100;

/** JSON has no number that is infinite. */
function decoded(report: PlanReport): PlanReport {
  const { capacity, holders } = report.places as {
    readonly capacity: number | null;
    readonly holders: PlanReport['places']['holders'];
  };
  return { ...report, places: { capacity: capacity ?? Infinity, holders } };
}

function whyMissing(error: unknown): string {
  if (!(error instanceof ApiStatusError)) return 'it did not answer in time';
  const { code, message } = error.status;
  return code === 403 ? `you may not ask it (${message ?? 'Forbidden'})` : `it did not answer (${code})`;
}
