import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ApiObject, type App, type ApiObjectProps, Chart, JsonPatch } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type Component, componentLabels, type Labels, sharedLabels } from './labels.ts';
import type { Settings } from './props/brupop.ts';

/** Adds an object as it is: a patch reaches every field of it. */
export function addObject(scope: Construct, id: string, manifest: ApiObjectProps): ApiObject {
  const object = new ApiObject(scope, id, manifest);
  // A chart with a namespace of its own gives it to every object in it, also to those that live in none.
  const isGlobal = manifest.metadata?.namespace === undefined;
  if (isGlobal && Chart.of(scope).namespace !== undefined) object.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
  return object;
}

/**
 * JSON for a ConfigMap. Whatever carries it must leave it as it is, so nothing in it looks like a variable of Flux or of kustomize, or like
 * an action of a Helm template.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replaceAll(/\$\{(?!Token\[)/g, String.raw`\u0024{`)
    .replaceAll('{{', String.raw`\u007b{`);
}

/**
 * Text with actions of a template that is somebody else's, e.g. Prometheus'. Helm would take them for its own in an app that is synthesised
 * into the templates of a chart, as `cdk8s synth --format helm` does: there Helm is told to write them.
 */
export function templateText(scope: Construct, text: string): string {
  return isHelmTemplate(scope) ? text.replaceAll('{{', '{{`{{`}}') : text;
}

function isHelmTemplate({ node }: Construct): boolean {
  const { outdir = '' } = node.root as Partial<App>;
  return basename(outdir) === 'templates' && existsSync(join(dirname(outdir), 'Chart.yaml'));
}

interface MetaOptions {
  readonly name: string;
  /** The process that the object is for; none = the operator as a whole. */
  readonly component?: Component;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  /** @default the operator's; only for objects that live in one */
  readonly namespace?: string | undefined;
}

/** Metadata of an object that lives in no namespace. */
export function globalMeta(settings: Settings, { name, component, labels, annotations }: MetaOptions): k8s.ObjectMeta {
  const allAnnotations = { ...settings.annotations, ...annotations };
  return {
    name,
    labels: {
      ...settings.labels,
      ...labels,
      ...(component ? componentLabels(component, settings.instance) : sharedLabels(settings.instance)),
    },
    ...(Object.keys(allAnnotations).length > 0 && { annotations: allAnnotations }),
  };
}

/** Metadata of the Deployment, or of a DaemonSet, of a process. */
export function workloadMeta(settings: Settings, name: string, component: Component): k8s.ObjectMeta {
  const { workloadLabels: labels, workloadAnnotations: annotations } = settings[component];
  return namespacedMeta(settings, { name, component, labels, annotations });
}

/** Metadata of an object in the operator's namespace, or in the one that is named. */
export function namespacedMeta(settings: Settings, options: MetaOptions): k8s.ObjectMeta {
  return { ...globalMeta(settings, options), namespace: options.namespace ?? settings.namespace };
}
