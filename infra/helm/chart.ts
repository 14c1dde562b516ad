import { Yaml } from 'cdk8s';
import { VERSION } from '../../runtime/lib/version.ts';
import type { BrupopProps } from '../props/brupop.ts';
import { objectsOf, type Part, PARTS } from './parts.ts';
import { bare, type Defines, rendered } from './template.ts';
import { valueDocs } from './docs.ts';
import { faultsTemplate } from './faults.ts';
import { commentedValues, readme } from './readme.ts';
import { valuesSchema } from './schema.ts';
import { initialValues } from './values.ts';

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
    'templates/_helpers.tpl': helpers(defines),
    'templates/faults.yaml': faultsTemplate(),
    'templates/NOTES.txt': NOTES,
  };
}

function templateOf(part: Part, defines: Defines): string {
  const text = rendered(objectsOf(part, defines));
  return part.condition ? `{{- if ${bare(part.condition.text)} }}\n${text}{{- end }}\n` : text;
}

const HELPERS: Readonly<Record<string, string>> = {
  'brupop.text': '{{ if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end }}',
  'brupop.spread':
    '[{{ range $index, $item := .constraints }}{{ if $index }},{{ end }}' +
    '{{ if hasKey $item "labelSelector" }}{{ toJson $item }}' +
    '{{ else }}{{ merge (dict "labelSelector" $.selector) $item | toJson }}{{ end }}{{ end }}]',
};

function helpers(defines: Defines): string {
  return Object.entries({ ...HELPERS, ...Object.fromEntries(defines) })
    .map(([name, body]) => `{{- define "${name}" -}}\n${body}\n{{- end }}\n`)
    .join('\n');
}
