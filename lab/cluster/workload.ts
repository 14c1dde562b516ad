import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Manifest } from '../sim/world/manifests.ts';
import { WORKLOAD, WORKLOAD_NAMESPACE, workload } from '../sim/world/workload.ts';

const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const PORT = 8080;
/** Seconds for the last who dial a pod to hear that it is going: kube-proxy may wait for a core for longer than five, beside other suites. */
const PRE_STOP_SECONDS = 12;

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
    lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } },
    resources: { requests: { cpu: '10m', memory: '48Mi' } },
  };
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: WORKLOAD } },
  };
  const spec = { ...template.spec, containers: [container], topologySpreadConstraints: [spread] };
  return { ...deployment, spec: { ...deployment.spec, template: { ...template, spec } } };
}
