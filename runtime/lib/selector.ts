/** A `LabelSelector` object, as disruption budgets and update policies have one. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelRequirement[] | undefined;
}

interface LabelRequirement {
  readonly key: string;
  /** In, NotIn, Exists or DoesNotExist; of any other, which only a newer API server could know, nothing is selected. */
  readonly operator: string;
  readonly values?: readonly string[] | null | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** Whether the selector selects `labels`. A missing selector selects nothing, and an empty one everything. */
export function selects(selector: LabelSelector | null | undefined, labels: Labels): boolean {
  if (!selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, labelOf(labels, requirement.key)) ?? false)
  );
}

/** A label may be called `constructor`, which every object inherits. */
export function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Whether the value of a label, undefined where there is none, is as required; undefined for an operator that selectors do not have. */
export function meets(
  { operator, values }: Omit<LabelRequirement, 'key'>,
  value: string | undefined,
): boolean | undefined {
  switch (operator) {
    case 'In':
      return value !== undefined && values?.includes(value) === true;
    case 'NotIn':
      return value === undefined || values?.includes(value) !== true;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return undefined;
  }
}
