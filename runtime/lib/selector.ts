/** A `LabelSelector` object, as disruption budgets have one. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

/** Whether `labels` are selected. No selector selects nothing, an empty one everything. */
export function selects(selector: LabelSelector | null | undefined, labels: Labels): boolean {
  if (!selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((requirement) => holds(requirement, labels[requirement.key]))
  );
}

function holds({ operator, values = [] }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return operator satisfies never;
  }
}
