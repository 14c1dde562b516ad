import type { Component } from '../infra/labels.ts';
import { type Rules, rules } from '../infra/rules.ts';
import { NAMESPACE } from '../runtime/api/shadow/names.ts';

/** What a request asks for, as audit logs have it. */
export interface Asked {
  readonly verb: string;
  readonly group?: string | undefined;
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The right that a request needs: `verb group/resource/subresource`. */
export function rightFor({ verb, group, resource, subresource }: Asked): string {
  return `${verb} ${[group, resource, subresource].filter(Boolean).join('/')}`;
}

/** Each right that a process has, in the same words. */
export function rightsOf(component: Component, scope: keyof Rules): string[] {
  return rules(component, NAMESPACE)[scope].flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => rightFor({ verb, group, resource }))),
    ),
  );
}

/** The rights that none of these requests needed. */
export function unusedRights(component: Component, asked: readonly Asked[]): string[] {
  const used = new Set(asked.map(rightFor));
  return (['cluster', 'namespace'] as const)
    .flatMap((scope) => rightsOf(component, scope))
    .filter((right) => !used.has(right));
}
