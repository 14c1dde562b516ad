import { at, joined, listed, placed } from './edits.ts';
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
    '{{- if . }}{{ $port := regexFind "[0-9]+$" (regexFind "^https?://[^/]*:[0-9]+" .) | default (ternary 80 443 (hasPrefix "http:" .)) }}' +
    '{{ list (dict "ports" (list (dict "protocol" "TCP" "port" (atoi (toString $port))))) | toJson }}{{ else }}[]{{ end }}',
};

/** The controller connects to what answers the queries of checks. */
export function withPrometheus(policy: Mapping): Mapping {
  if (at(policy, 'metadata/name') !== 'brupop-controller') return policy;
  const url = optional('controller.prometheusUrl', '');
  return placed(policy, 'spec/egress', (own = []) => joined(own, listed(PROMETHEUS_EGRESS, url)));
}

/** The controller reads the objects that checks ask for. */
export function withChecked(role: Mapping): Mapping {
  return placed(role, 'rules', (own = []) => joined(own, listed(CHECKED_RULES, value('controller.checkObjects'))));
}
