import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { sharedLabels } from '../labels.ts';
import { COMPLETED, value } from './settings.ts';
import { call, filled, mark, Operand } from './template.ts';

const labels = call('merge', filled({ labels: sharedLabels(mark('$.Release.Name')) }, new Map()), {
  labels: value('labels'),
});

const POLICY = call(
  'dict',
  ...Object.entries({
    apiVersion: POLICY_API_VERSION,
    kind: POLICY_KIND,
    metadata: call('merge', { name: new Operand('.name'), annotations: value('annotations') }, labels),
    spec: call('omit', new Operand('.'), 'name'),
  }).flat(),
);

/** A policy for each item of the value. @see UpdatePolicy */
export const POLICIES = `${COMPLETED}{{- range $values.policies }}\n---\n{{ toJson ${POLICY.text} }}\n{{- end }}\n`;

/**
 * Helm asks for the kind of each object before it installs any, also of the definitions. Below `helm template` there is no cluster to look at.
 */
const UNDEFINED = `policies: expected none in a cluster without their definition: install with --set policies=null, then upgrade with them`;

/** What the props refuse of policies together. */
export const POLICY_FAULTS = `{{- $names := list }}{{ range $values.policies }}{{ $names = append $names .name }}{{ end }}
{{- range $index, $policy := $values.policies }}
{{- if has .name (slice $names 0 $index) }}
{{- fail (printf "policies.%d.name: expected a name that no other policy has" $index) }}
{{- end }}
{{- range $place, $other := .after }}
{{- if or (eq . $policy.name) (not (has . $names)) }}
{{- fail (printf "policies.%d.after.%d: expected one of %s" $index $place (without $names $policy.name | join ", ")) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $values.policies (lookup "v1" "Namespace" "" "kube-system") (not (.Capabilities.APIVersions.Has "${POLICY_API_VERSION}/${POLICY_KIND}")) }}
{{- fail ${JSON.stringify(UNDEFINED)} }}
{{- end }}
`;
