import { joined, listed, placed } from './edits.ts';
import { PORT_OF, TO_PORTS, withEgress } from './egress.ts';
import { optional, value } from './settings.ts';
import type { Mapping } from './template.ts';

/** Named templates of the values for checks of policies. */

/** Rules for the objects that may be read. @see checkObjectRules */
const CHECKED_RULES = 'brupop.checkedRules';
/** A rule of a network policy, or none. @see NetworkPolicies */
const PROMETHEUS_EGRESS = 'brupop.prometheusEgress';

export const CHECK_HELPERS: Readonly<Record<string, string>> = {
  [CHECKED_RULES]:
    '{{- $rules := list }}{{ range . }}{{ $rules = append $rules (merge (dict "verbs" (list "get")) .) }}{{ end }}' +
    '{{ if $rules }}{{ toJson $rules }}{{ else }}[]{{ end }}',
  [PROMETHEUS_EGRESS]:
    `{{- $ports := list }}{{ with . }}{{ $ports = list (include "${PORT_OF}" .) }}{{ end }}` +
    `{{ include "${TO_PORTS}" $ports }}`,
};

/** The controller connects to what answers the queries of checks. */
export function withPrometheus(policy: Mapping): Mapping {
  return withEgress(policy, PROMETHEUS_EGRESS, optional('controller.prometheusUrl', ''));
}

/** The controller reads the objects that checks ask for. */
export function withChecked(role: Mapping): Mapping {
  return placed(role, 'rules', (own = []) => joined(own, listed(CHECKED_RULES, value('controller.checkObjects'))));
}
