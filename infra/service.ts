import type { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type Component, selectorLabels } from './labels.ts';
import { intOrString, manifest } from './manifest.ts';
import { addObject, namespacedMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

interface ServiceOptions {
  readonly settings: Settings;
  readonly component: Extract<Component, 'apiserver' | 'controller'>;
  readonly name: string;
  /** `target` is the name of a port of the container. */
  readonly port: { readonly name: string; readonly port: number; readonly target: string };
}

/** A Service with the annotations by which Prometheus installations without the Prometheus operator find what to scrape. */
export function addService(scope: Construct, id: string, options: ServiceOptions): ApiObject {
  const { settings, component, name, port } = options;
  const { httpPort, serviceAnnotations } = settings[component];
  const scrape = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(httpPort) };
  const annotations = { ...(settings.scrapeServices && scrape), ...serviceAnnotations };
  return addObject(
    scope,
    id,
    manifest('Service', {
      metadata: namespacedMeta(settings, { name, component, annotations }),
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(component),
        ports: [{ name: port.name, port: port.port, protocol: 'TCP', targetPort: intOrString(port.target) }],
      },
    }),
  );
}
