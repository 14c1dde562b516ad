import type { Answering, PlanReport, SnapshotReport } from '../controller/telling/plan-report.ts';
import { ApiStatusError } from '../kube/errors.ts';
import { collectionPath } from '../kube/paths.ts';
import { fromPlain } from '../lib/plain.ts';
import { VERSION } from '../lib/version.ts';
import { CONTROLLER_PORT_NAME, CONTROLLER_SERVICE, PLAN_SCHEMA } from '../api/shadow/names.ts';
import type { Cluster } from './command.ts';

/** What the leader says, or why that could not be had: a clause that follows "the leader's own plan: ". */
type Asked<T> = { readonly said: T } | { readonly missing: string };

/** A person waits for so long before the plan is made here, milliseconds. */
const PATIENCE_MS = 2000;
/** The Service leads to any controller, and those that stand by only know who leads. */
const TRIES = 8;

/** Asks the leader for its plan. */
export async function askPlan(cluster: Cluster): Promise<Asked<PlanReport>> {
  const asked = await askLeader<PlanReport>(cluster, 'plan');
  if ('missing' in asked) return asked;
  const { places } = asked.said;
  // JSON has no number that is infinite.
  const { capacity } = places as { readonly capacity: number | null };
  return { said: { ...asked.said, places: { ...places, capacity: capacity ?? Infinity } } };
}

/** What the leader plans on; undefined where it does not say. */
export async function snapshotOfLeader(cluster: Cluster): Promise<SnapshotReport['snapshot'] | undefined> {
  const asked = await askLeader<SnapshotReport>(cluster, 'plan/snapshot');
  return 'missing' in asked ? undefined : (fromPlain(asked.said.snapshot) as SnapshotReport['snapshot']);
}

async function askLeader<T extends Answering>({ transport, namespace }: Cluster, path: string): Promise<Asked<T>> {
  const services = collectionPath({ version: 'v1', plural: 'services', namespace });
  // RBAC checks this whole text as the name of the Service (`resourceNames` of `services/proxy`).
  const service = `http:${CONTROLLER_SERVICE}:${CONTROLLER_PORT_NAME}`;
  const request = { method: 'GET', path: `${services}/${service}/proxy/${path}`, timeoutMs: PATIENCE_MS } as const;
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const said = (await transport.request(request)) as T;
      const { schema, version, leading, leader } = said as Partial<Answering>;
      if (schema !== PLAN_SCHEMA || version !== VERSION)
        return { missing: `the controller is version ${version ?? 'older'}, and this is ${VERSION}` };
      if (leading) return { said };
      if (leader === undefined) return { missing: 'nobody leads' };
    }
    return { missing: 'only controllers that stand by have answered' };
  } catch (error) {
    return { missing: whyMissing(error) };
  }
}

function whyMissing(error: unknown): string {
  if (!(error instanceof ApiStatusError)) return 'it did not answer in time';
  const { code, message } = error.status;
  return code === 403 ? `you may not ask it (${message ?? 'Forbidden'})` : `it did not answer (${code})`;
}
