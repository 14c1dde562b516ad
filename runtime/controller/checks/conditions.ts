import type { ConditionCheck } from '../../api/policy/checks.ts';
import { Collection } from '../../kube/collection.ts';
import type { Condition, KubeObject } from '../../kube/objects.ts';
import { collectionPath } from '../../kube/paths.ts';
import { resourceOfKind } from '../../kube/discovery.ts';
import type { CheckAnswer, CheckTry } from '../plan/facts/checks.ts';
import { type Asked, filledIn, unknown } from './subject.ts';

type ConditionTry = CheckTry & { readonly check: ConditionCheck };

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] | null } | null;
}

/** Whether an object has a condition in its status. */
export async function askCondition(
  { transport }: Pick<Asked, 'transport'>,
  one: ConditionTry,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  const { apiVersion, objectKind: kind, namespace } = one.check;
  const name = filledIn(one.check.objectName, one);
  const what = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const resource = await resourceOfKind(transport, { apiVersion, kind }, signal);
  if (!resource) return unknown(`the cluster knows no ${kind} in ${apiVersion}`);
  const where = resource.namespaced ? 'a namespace, and the check names none' : 'no namespace';
  if (resource.namespaced !== (namespace !== undefined)) return unknown(`a ${kind} lives in ${where}`);
  const path = collectionPath({ ...resource, namespace });
  const object = await new Collection<Conditioned>(transport, path).get(name, signal);
  if (!object) return unknown(`there is no ${what}`);
  return answerBy(object, one.check, what);
}

function answerBy({ status }: Conditioned, { type, status: wanted }: ConditionCheck, what: string): CheckAnswer {
  const found = status?.conditions?.find((condition) => condition.type === type);
  if (!found) return unknown(`${what} has no condition ${type}`);
  if (found.status === wanted) return { kind: 'passed', message: `${what}: ${type} is ${wanted}` };
  if (found.status === 'Unknown') return unknown(`${what}: ${type} is Unknown`);
  return { kind: 'failed', message: `${what}: ${type} is ${found.status}: ${found.message ?? found.reason ?? ''}` };
}
