import type { Container, Pod } from '../../../runtime/kube/objects.ts';

/** The one container of each pod of the operator. */
export function containerOf({ spec }: Pod): Container | undefined {
  return spec?.containers?.[0];
}

/** The container's environment as its pod states it. */
export function podEnv(pod: Pod): Record<string, string> {
  const entries = containerOf(pod)?.env ?? [];
  return Object.fromEntries(
    entries.map((entry) => [entry.name, entry.value ?? fieldOf(pod, entry.valueFrom?.fieldRef?.fieldPath)]),
  );
}

/** What a downward reference reads, e.g. `spec.nodeName`; empty where there is no such text. */
export function fieldOf(pod: Pod, path: string | undefined): string {
  const value = path
    ?.split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], pod);
  return typeof value === 'string' ? value : '';
}
