import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Manifest } from '../sim/world/manifests.ts';
import { WORKLOAD, WORKLOAD_NAMESPACE, workload } from '../sim/world/workload.ts';

const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const PORT = 8080;
/** Seconds within which the last who dial a pod have heard that it is going: those who tell them may wait for a core, beside other suites. */
const PATIENCE_SECONDS = 60;

interface Deployment extends Manifest {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
}

/**
 * The simulation's workload, two pods for each node and a budget, as a server that takes requests until nobody sends it any: ready when
 * it listens, and with a Service before it.
 * @param image with Node in it
 */
export function servedWorkload(nodes: number, image: string): readonly Manifest[] {
  const labels = { app: WORKLOAD };
  const metadata = { name: WORKLOAD, namespace: WORKLOAD_NAMESPACE, labels };
  const service: Manifest = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: labels, ports: [{ port: 80, targetPort: PORT }] },
  };
  const manifests = workload({ nodes, speed: 1 }).map((manifest) =>
    manifest.kind === 'Deployment' ? served(manifest as Deployment, image) : manifest,
  );
  return [...manifests, service];
}

function served(deployment: Deployment, image: string): Manifest {
  const { template } = deployment.spec;
  const container = {
    name: WORKLOAD,
    image,
    command: ['node', '--max-old-space-size=32', '--input-type=module', '--eval', readFileSync(SERVER, 'utf8')],
    env: [{ name: 'PORT', value: String(PORT) }],
    // It may wait for a core as well, and is not out of service for that.
    readinessProbe: { httpGet: { path: '/', port: PORT }, periodSeconds: 1, timeoutSeconds: 10 },
    resources: { requests: { cpu: '10m', memory: '48Mi' } },
  };
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: WORKLOAD } },
  };
  const own = { terminationGracePeriodSeconds: PATIENCE_SECONDS, containers: [container] };
  const spec = { ...template.spec, ...own, topologySpreadConstraints: [spread] };
  return { ...deployment, spec: { ...deployment.spec, template: { ...template, spec } } };
}
