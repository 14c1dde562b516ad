import type { Shadow, ShadowCondition } from '../../../runtime/api/shadow/model.ts';

/** What the controller says of a node, as it stands in the cluster. */
export function verdictOf(shadow: Shadow | undefined): ShadowCondition | undefined {
  return shadow?.status?.conditions?.find(({ type }) => type === 'UpToDate');
}
