import { VERSION } from '../runtime/lib/version.ts';
import { COMPONENT_LABEL, COMPONENTS, DRIVER_LABEL, NAME_LABEL } from '../runtime/api/shadow/names.ts';

export type Component = keyof typeof COMPONENTS;
export type Labels = Readonly<Record<string, string>>;

const INSTANCE = 'app.kubernetes.io/instance';
const VERSION_LABEL = 'app.kubernetes.io/version';
const COMPONENT = 'app.kubernetes.io/component';
const MANAGED_BY = 'app.kubernetes.io/managed-by';
const PART_OF = 'app.kubernetes.io/part-of';

/** Keys that the operator's tools and other installations select by. */
export const OWN_LABEL_KEYS = [
  NAME_LABEL,
  INSTANCE,
  VERSION_LABEL,
  COMPONENT,
  MANAGED_BY,
  PART_OF,
  COMPONENT_LABEL,
  DRIVER_LABEL,
] as const;

/** Labels of an object that belongs to the operator as a whole. */
export function sharedLabels(instance: string): Labels {
  return {
    [NAME_LABEL]: 'brupop',
    [INSTANCE]: instance,
    [VERSION_LABEL]: VERSION,
    [COMPONENT]: 'operator',
    [MANAGED_BY]: 'brupop',
    [PART_OF]: 'brupop',
  };
}

/** Labels of an object that belongs to one of the three processes. */
export function componentLabels(component: Component, instance: string): Labels {
  return { ...sharedLabels(instance), [COMPONENT]: COMPONENTS[component], ...selectorLabels(component) };
}

/** What selects a component's pods: one label, for ever, because a workload's selector cannot be changed. */
export function selectorLabels(component: Component): Labels {
  return { [COMPONENT_LABEL]: COMPONENTS[component] };
}
