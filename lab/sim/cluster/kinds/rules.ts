import { isDeepStrictEqual } from 'node:util';
import type { Candidate } from '../candidate.ts';
import { crdFaults } from '../crd/check.ts';
import { at, fields, type KubeJson, list, text, without } from '../object.ts';
import { type Cause, forbiddenValue, invalidValue, unsupportedValue } from '../status.ts';

/** What is wrong with an object, or with the change that led to it. */
type Rule = (candidate: Candidate) => readonly Cause[];

/** Of the rules of built-in kinds those that the operator could break. */
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  ConfigMap: [withinMebibyte],
  Event: [aboutItsNamespace],
  Lease: [atLeast(1, 'spec', 'leaseDurationSeconds'), atLeast(0, 'spec', 'leaseTransitions')],
  Node: [taints],
  Pod: [podUnchanged],
  CustomResourceDefinition: [crdFaults],
};

/** What is wrong with an object of a built-in kind whose fields have their types. */
export function kindFaults(candidate: Candidate): readonly Cause[] {
  return (RULES[candidate.type.kind] ?? []).flatMap((rule) => rule(candidate));
}

function atLeast(least: number, ...path: readonly string[]): Rule {
  return ({ object }) => {
    const found = at(object, ...path);
    if (found === undefined || Number(found) >= least) return [];
    const why = least > 0 ? `must be greater than ${least - 1}` : `must be greater than or equal to ${least}`;
    return [invalidValue(path.join('.'), found, why)];
  };
}

const MEBIBYTE = 1024 * 1024;

/** Keys do not count. */
function withinMebibyte({ object }: Candidate): readonly Cause[] {
  const sizes = Object.values(fields(object['data'])).map((value) => Buffer.byteLength(text(value)));
  if (sizes.reduce((sum, size) => sum + size, 0) <= MEBIBYTE) return [];
  return [{ reason: 'FieldValueTooLong', field: 'data', message: `Too long: may not be more than ${MEBIBYTE} bytes` }];
}

/** An Event about something that is in no namespace is kept in `default`. */
function aboutItsNamespace({ object }: Candidate): readonly Cause[] {
  const about = text(at(object, 'involvedObject', 'namespace'));
  if ((about || 'default') === object.metadata.namespace) return [];
  return [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')];
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function taints({ object }: Candidate): readonly Cause[] {
  const rows = list(at(object, 'spec', 'taints')).map(fields);
  const pairs = rows.map(({ key, effect }) => `${text(key)} ${text(effect)}`);
  return rows.flatMap((row, index) => {
    const field = `metadata.taints[${index}]`;
    if (!EFFECTS.includes(text(row['effect']))) return [unsupportedValue(`${field}.effect`, row['effect'], EFFECTS)];
    if (pairs.indexOf(pairs[index] ?? '') === index) return [];
    const message = `Duplicate value: ${JSON.stringify(row)}: taints must be unique by key and effect pair`;
    return [{ reason: 'FieldValueDuplicate', field, message }];
  });
}

/** Of a pod that exists only these may change; a binding says on which node it is. */
function podUnchanged({ object, before, subresource }: Candidate): readonly Cause[] {
  if (!before || subresource === 'binding') return [];
  const had = list(at(before, 'spec', 'tolerations'));
  const has = list(at(object, 'spec', 'tolerations'));
  const tolerant = had.every((old) => has.some((toleration) => isDeepStrictEqual(toleration, old)));
  if (tolerant && isDeepStrictEqual(fixed(object), fixed(before))) return [];
  return [
    forbiddenValue(
      'spec',
      'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, ' +
        '`spec.activeDeadlineSeconds` and `spec.tolerations` (only additions)',
    ),
  ];
}

function fixed(pod: KubeJson): object {
  const { containers, initContainers, ...spec } = fields(pod['spec']);
  return {
    ...without(spec, 'activeDeadlineSeconds', 'tolerations'),
    containers: imageless(containers),
    initContainers: imageless(initContainers),
  };
}

function imageless(containers: unknown): readonly object[] {
  return list(containers).map((container) => without(fields(container), 'image'));
}
