import { at, fields, type KubeJson, list, text } from './object.ts';
import { badRequest } from './status.ts';

/** Whether an object with these labels is selected. */
export type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

/** A `LabelSelector` object as in a PodDisruptionBudget; an absent one selects nothing, an empty one everything. */
export function labelSelector(selector: unknown): LabelTest {
  if (selector === undefined || selector === null) return () => false;
  const { matchLabels, matchExpressions } = fields(selector);
  const tests = [
    ...Object.entries(fields(matchLabels)).map(([key, value]) => requirement({ key, operator: 'In', values: [value] })),
    ...list(matchExpressions).map((row) => requirement(fields(row))),
  ];
  return (labels) => tests.every((test) => test(labels));
}

function requirement(row: Readonly<Record<string, unknown>>): LabelTest {
  const key = text(row['key']);
  const values = list(row['values']);
  switch (row['operator']) {
    case 'In':
      return (labels) => labels[key] !== undefined && values.includes(labels[key]);
    case 'NotIn':
      return (labels) => !values.includes(labels[key]);
    case 'Exists':
      return (labels) => labels[key] !== undefined;
    case 'DoesNotExist':
      return (labels) => labels[key] === undefined;
    case 'Gt':
      return (labels) => Number(labels[key]) > Number(values[0]);
    case 'Lt':
      return (labels) => Number(labels[key]) < Number(values[0]);
    default:
      throw badRequest(`"${text(row['operator'])}" is not a valid label selector operator`);
  }
}

const SET = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const EQUALITY = /^([^\s=!<>]+)\s*(==|=|!=|>|<)\s*([-\w./]*)$/;
const EXISTENCE = /^(!?)\s*([^\s=!<>]+)$/;
const OPERATORS: Readonly<Record<string, string>> = { '=': 'In', '==': 'In', '!=': 'NotIn', '>': 'Gt', '<': 'Lt' };

/** The query parameter `labelSelector`, e.g. `a=b,c in (d,e),!f`. @throws StatusError 400 */
export function parseLabelSelector(query: string): LabelTest {
  const tests = query
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '')
    .map((term) => requirement(labelTerm(term)));
  return (labels) => tests.every((test) => test(labels));
}

function labelTerm(term: string): Readonly<Record<string, unknown>> {
  const set = SET.exec(term);
  if (set) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    return { key: set[1], operator: set[2] === 'in' ? 'In' : 'NotIn', values };
  }
  const equality = EQUALITY.exec(term);
  if (equality) return { key: equality[1], operator: OPERATORS[equality[2] ?? ''], values: [equality[3]] };
  const existence = EXISTENCE.exec(term);
  if (existence) return { key: existence[2], operator: existence[1] === '!' ? 'DoesNotExist' : 'Exists' };
  throw badRequest(`unable to parse requirement: ${JSON.stringify(term)}`);
}

const EVERYWHERE = ['metadata.name', 'metadata.namespace'];
const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
/** By kind, what the API server lets one select by, beside name and namespace. */
const SELECTABLE: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'status.phase'],
  Node: ['spec.unschedulable'],
  Namespace: ['status.phase'],
  Secret: ['type'],
  Event: ['reason', 'type', 'reportingComponent', ...INVOLVED.map((field) => `involvedObject.${field}`)],
};

/** What a field that is absent is compared as, where that is not the empty text. */
const ABSENT: Readonly<Record<string, string>> = { 'spec.unschedulable': 'false' };

export interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** The query parameter `fieldSelector`, e.g. `spec.nodeName=n1,status.phase!=Failed`. @throws StatusError 400 */
export function parseFieldSelector(query: string, kind: string): readonly FieldTerm[] {
  const terms = query.split(',').filter((term) => term !== '');
  return terms.map((term) => {
    const match = /^([^=!]+)(!=|==|=)(.*)$/.exec(term);
    if (!match) throw badRequest(`invalid selector: '${query}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = match;
    if (![...EVERYWHERE, ...(SELECTABLE[kind] ?? [])].includes(field)) {
      throw badRequest(`field label not supported: ${field}`);
    }
    return { field, equal: operator !== '!=', value };
  });
}

export function matchesFields(object: KubeJson, terms: readonly FieldTerm[]): boolean {
  return terms.every(({ field, equal, value }) => {
    const found = at(object, ...field.split('.'));
    const shown = typeof found === 'boolean' ? String(found) : text(found ?? ABSENT[field]);
    return (shown === value) === equal;
  });
}
