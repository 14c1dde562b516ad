import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type Component, selectorLabels } from './labels.ts';
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
  const annotations = {
    'prometheus.io/scrape': 'true',
    'prometheus.io/port': String(settings[component].httpPort),
  };
  return addObject(
    scope,
    id,
    k8s.KubeService.manifest({
      metadata: namespacedMeta(settings, { name, component, annotations }),
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(component),
        ports: [
          { name: port.name, port: port.port, protocol: 'TCP', targetPort: k8s.IntOrString.fromString(port.target) },
        ],
      },
    }),
  );
}
