import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The documentation of a value: that of its prop in the source. */
export interface Doc {
  readonly text: string;
  /** In words, where it is no literal. */
  readonly fallback: string | undefined;
}

/** Interfaces whose props are the values below a path, and the files that they are in. */
const INTERFACES: readonly (readonly [path: string, file: string, ...names: readonly string[]])[] = [
  ['', 'props/brupop.ts', 'BrupopProps'],
  ['image', 'props/image.ts', 'ImageProps'],
  ['logging', 'props/brupop.ts', 'LoggingProps'],
  ['networkPolicies', 'props/brupop.ts', 'NetworkPolicyProps'],
  ['notifications', 'props/notifications.ts', 'NotificationProps'],
  ['certificates', 'props/certificates.ts', 'RotationProps', 'SelfSignedProps', 'IssuerProps', 'SecretProps'],
  ['controller.schedule', 'props/schedule.ts', 'WindowProps', 'CronProps'],
  ['agent', 'props/agent.ts', 'AgentProps'],
  ['apiserver', 'props/apiserver.ts', 'ApiserverProps'],
  ['controller', 'props/controller.ts', 'ControllerProps'],
  ...['agent', 'apiserver', 'controller'].map((path) => [path, 'props/workload.ts', 'WorkloadProps'] as const),
  ...['apiserver', 'controller'].map((path) => [path, 'props/workload.ts', 'ServedProps'] as const),
  ['monitors', 'monitoring/monitors.ts', 'MonitorsProps'],
  ['alerts', 'monitoring/alerts.ts', 'AlertsProps'],
  ['dashboard', 'monitoring/dashboard.ts', 'DashboardProps'],
];

/** The documentation of values that are no props. */
const OWN: Readonly<Record<string, Doc>> = {
  'certificates.kind': {
    text: 'Where the certificates come from: `self-signed` (a CA of the operator’s own, kept by cert-manager), `issuer` or `secret`.',
    fallback: undefined,
  },
  'controller.schedule.kind': { text: '`cron` or `window`.', fallback: undefined },
  extraObjects: {
    text: 'Further objects of the release. Text among them is a template.',
    fallback: undefined,
  },
  'global.imageRegistry': {
    text: 'Registry that an umbrella chart names for all its charts; it wins over `image.registry`.',
    fallback: 'none',
  },
  'global.imagePullSecrets': {
    text: 'Names of Secrets, or objects with a `name`, besides those of `image.pullSecrets`.',
    fallback: 'none',
  },
  enabled: {
    text: 'Of an umbrella chart, for its `condition` of this dependency. The chart itself cannot be switched off.',
    fallback: 'none',
  },
  'monitors.enabled': {
    text: 'Whether there are a ServiceMonitor and a PodMonitor. The cluster needs the definitions of the Prometheus operator.',
    fallback: undefined,
  },
  'alerts.enabled': {
    text: 'Whether there is a PrometheusRule. The cluster needs the definition of the Prometheus operator.',
    fallback: undefined,
  },
  'dashboard.enabled': {
    text: 'Whether there is a dashboard in a ConfigMap, as Grafana’s sidecar picks it up.',
    fallback: undefined,
  },
  'peopleRoles.enabled': {
    text: 'Whether there are roles for people who use `kubectl brupop`: `brupop-view`, `brupop-operate` and `brupop-plan`, bound to nobody.',
    fallback: undefined,
  },
};

/**
 * What the sources say of each value, by its path.
 * @param folder of the constructs in this repository
 */
export function valueDocs(folder: string): Readonly<Record<string, Doc>> {
  const found = INTERFACES.flatMap(([path, file, ...names]) => {
    const source = readFileSync(join(folder, file), 'utf8');
    return names.flatMap((name) =>
      docsIn(source, name).map(([prop, doc]) => [[path, prop].filter(Boolean).join('.'), doc]),
    );
  });
  return { ...Object.fromEntries(found), ...OWN };
}

const COMMENTED = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s+readonly (\w+)\??:/g;

function docsIn(source: string, name: string): (readonly [prop: string, doc: Doc])[] {
  const body = new RegExp(`export interface ${name}[^{]*\\{\n([^]*?)\n\\}`).exec(source)?.[1] ?? '';
  return Array.from(body.matchAll(COMMENTED), ([, comment = '', prop = '']) => {
    const words = comment.replaceAll(/\s*\n\s*\*?\s?/g, ' ').trim();
    const [text = '', fallback] = words.split(/\s*@default\s+/);
    return [prop, { text, fallback }] as const;
  });
}
