import { Yaml } from 'cdk8s';
import { CRD_NAME } from '../../runtime/api/shadow/names.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import type { BrupopProps } from '../props/brupop.ts';
import { objectsOf, type Part, PARTS } from './parts.ts';
import { bare, type Defines, rendered } from './template.ts';
import { valueDocs } from './docs.ts';
import { faultsTemplate } from './faults.ts';
import { CHECK_HELPERS } from './checks.ts';
import { EGRESS_HELPERS } from './egress.ts';
import { NOTIFICATION_HELPERS } from './notifications.ts';
import { POLICIES } from './policies.ts';
import { commentedValues, readme } from './readme.ts';
import { valuesSchema } from './schema.ts';
import { COMPLETED } from './settings.ts';
import { defaultValues, initialValues } from './values.ts';

const CHART = {
  apiVersion: 'v2',
  name: 'brupop',
  description: 'An update operator for Bottlerocket nodes. Its certificates come from cert-manager.',
  type: 'application',
  version: VERSION,
  appVersion: VERSION,
  kubeVersion: '>=1.27.0-0',
};

const NOTES = `Label the nodes that are to be updated, and look at what becomes of them:

  kubectl label node NODE bottlerocket.aws/updater-interface-version=2.0.0
  kubectl get brs --namespace {{ .Release.Namespace }} --watch

The agents run only where their namespace lets them:

  kubectl label namespace {{ .Release.Namespace }} pod-security.kubernetes.io/enforce=privileged

Before you uninstall it, shadows must be stored as v2 alone. Without the apiserver nobody can read others, and then no namespace
of the cluster can be deleted:

  kubectl wait crd ${CRD_NAME} --for=jsonpath='{.status.storedVersions[0]}'=v2 --timeout=2m
`;

/**
 * The operator as a Helm chart: text by file name. What has no value in it takes the constructs.
 * @param folder of the constructs in this repository, whose comments say what the values mean
 * @param image that its values name
 */
export function helmChart(folder: string, image: Pick<BrupopProps, 'image'> = {}): Readonly<Record<string, string>> {
  const initial = initialValues(image);
  const docs = valueDocs(folder);
  const defines: Defines = new Map();
  const templates = PARTS.map((part) => [`templates/${part.file}`, templateOf(part, defines)] as const);
  return {
    'Chart.yaml': Yaml.stringify(CHART),
    'README.md': readme(docs, initial),
    'values.yaml': commentedValues(docs, initial),
    'values.schema.json': `${JSON.stringify(valuesSchema(), null, 2)}\n`,
    ...Object.fromEntries(templates),
    'templates/policies.yaml': POLICIES,
    'templates/extra-objects.yaml': EXTRA_OBJECTS,
    'templates/_helpers.tpl': helpers(defines, defaultValues(image)),
    'templates/faults.yaml': faultsTemplate(),
    'templates/NOTES.txt': NOTES,
  };
}

function templateOf(part: Part, defines: Defines): string {
  const text = rendered(objectsOf(part, defines));
  return COMPLETED + (part.condition ? `{{- if ${bare(part.condition.text)} }}\n${text}{{- end }}\n` : text);
}

/** They are the user's, as they are. Text among them is a template. */
const EXTRA_OBJECTS = `{{- range .Values.extraObjects }}
---
{{ if kindIs "string" . }}{{ tpl . $ }}{{ else }}{{ toYaml . }}{{ end }}
{{- end }}
`;

const HELPERS: Readonly<Record<string, string>> = {
  'brupop.withoutNulls':
    '{{- range $key, $one := . }}{{ if kindIs "invalid" $one }}{{ $_ := unset $ $key }}' +
    '{{ else if and (kindIs "map" $one) $one }}{{ include "brupop.withoutNulls" $one }}' +
    // A map of nulls is as good as null, but for requests and limits: without amounts there are none.
    '{{ if and (not $one) (not (has $key (list "requests" "limits"))) }}{{ $_ := unset $ $key }}{{ end }}' +
    '{{ else if kindIs "slice" $one }}{{ range $one }}{{ if kindIs "map" . }}{{ include "brupop.withoutNulls" . }}{{ end }}{{ end }}' +
    '{{ end }}{{ end }}',
  'brupop.withDefaults':
    '{{- $given := .given }}{{ range $key, $one := .defaults }}' +
    '{{ if not (hasKey $given $key) }}{{ $_ := set $given $key $one }}' +
    '{{ else if kindIs "map" $one }}{{ include "brupop.withDefaults" (dict "given" (get $given $key) "defaults" $one) }}' +
    '{{ end }}{{ end }}',
  'brupop.pullSecrets':
    '{{- $names := .image.pullSecrets }}{{ range .global.imagePullSecrets }}' +
    '{{ if kindIs "map" . }}{{ $names = append $names .name }}{{ else }}{{ $names = append $names . }}{{ end }}' +
    '{{ end }}{{ uniq $names | toJson }}',
  'brupop.amounts':
    '{{- $amounts := dict }}{{ range $name, $amount := . }}{{ $_ := set $amounts $name (include "brupop.text" $amount) }}{{ end }}{{ toJson $amounts }}',
  'brupop.env':
    '{{- $env := list }}{{ range $name, $value := . }}{{ $env = append $env (dict "name" $name "value" $value) }}{{ end }}{{ toJson $env }}',
  'brupop.nodeTerms':
    '{{- $terms := list }}{{ range .terms }}{{ $terms = append $terms (dict "matchExpressions" (concat $.own .matchExpressions)) }}{{ end }}{{ toJson $terms }}',
  'brupop.text': '{{ if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end }}',
  'brupop.spread':
    '[{{ range $index, $item := .constraints }}{{ if $index }},{{ end }}' +
    '{{ if hasKey $item "labelSelector" }}{{ toJson $item }}' +
    '{{ else }}{{ merge (dict "labelSelector" $.selector) $item | toJson }}{{ end }}{{ end }}]',
};

function helpers(defines: Defines, defaults: object): string {
  const values =
    '{{- $values := toJson .Values | fromJson }}{{ include "brupop.withoutNulls" $values }}' +
    `{{ include "brupop.withDefaults" (dict "given" $values "defaults" (fromJson ${JSON.stringify(JSON.stringify(defaults))})) }}` +
    '{{ toJson $values }}';
  return Object.entries({
    ...HELPERS,
    ...EGRESS_HELPERS,
    ...NOTIFICATION_HELPERS,
    ...CHECK_HELPERS,
    'brupop.values': values,
    ...Object.fromEntries(defines),
  })
    .map(([name, body]) => `{{- define "${name}" -}}\n${body}\n{{- end }}\n`)
    .join('\n');
}
