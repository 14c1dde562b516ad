import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { parseRepositories, PUBLIC_REPOSITORY } from '../runtime/api/waves/repositories.ts';
import { type Component, selectorLabels } from './labels.ts';
import { intOrString, manifest } from './manifest.ts';
import { notificationPorts } from './notifications.ts';
import { addObject, namespacedMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/**
 * The connections that each process needs, and no others. Probes come from the pod's own node, which every policy lets in. The Kubernetes
 * API dials the apiserver, and for `kubectl brupop why` the controller, from outside of the pods, and whoever monitors reads metrics. Both ports are open unless the props name who may
 * connect.
 */
export class NetworkPolicies extends Construct {
  readonly agent: ApiObject;
  readonly apiserver: ApiObject;
  readonly controller: ApiObject;
  readonly #settings: Settings;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.#settings = settings;
    const { apiserver, controller } = settings;
    const releases = this.#releases();
    this.agent = this.#addPolicy('agent', {
      ingress: [],
      egress: [{ to: [pods('apiserver')], ports: tcp([apiserver.internalPort]) }, ...releases.download],
    });
    this.apiserver = this.#addPolicy('apiserver', {
      ingress: [
        { ...from(this.#callers()), ports: tcp([apiserver.internalPort]) },
        { ...from(this.#readers()), ports: tcp([apiserver.httpPort]) },
      ],
      egress: [],
    });
    this.controller = this.#addPolicy('controller', {
      ingress: [{ ...from(this.#readers(this.#api())), ports: tcp([controller.httpPort]) }],
      egress: [...releases.ask, ...this.#repositories(), ...this.#notified(), ...this.#prometheus()],
    });
  }

  /** Egress of the controller and of k3OS agents to the source of releases, at any address. */
  #releases(): Readonly<Record<'ask' | 'download', readonly k8s.NetworkPolicyEgressRule[]>> {
    const { enabled, releasesUrl } = this.#settings.k3os;
    if (!enabled) return { ask: [], download: [] };
    return { ask: [{ ports: tcp([portOf(releasesUrl)]) }], download: [{ ports: tcp([HTTPS_PORT]) }] };
  }

  /** Egress of the controller to repositories of releases, at any address. */
  #repositories(): readonly k8s.NetworkPolicyEgressRule[] {
    const { repositories } = this.#settings;
    const listed = parseRepositories(repositories) ?? [PUBLIC_REPOSITORY];
    const addresses = listed.flatMap(({ metadata, targets }) => [metadata, targets]);
    const ports = new Set(addresses.map((address) => Number(URL.parse(address)?.port) || HTTPS_PORT));
    return ports.size === 0 ? [] : [{ ports: tcp([...ports].toSorted((a, b) => a - b)) }];
  }

  /** Egress of the controller to targets of notifications, at any address. */
  #notified(): readonly k8s.NetworkPolicyEgressRule[] {
    const ports = notificationPorts(this.#settings);
    return ports.length === 0 ? [] : [{ ports: tcp(ports) }];
  }

  /** Egress of the controller to what answers the queries of checks, at any address. */
  #prometheus(): readonly k8s.NetworkPolicyEgressRule[] {
    const { prometheusUrl } = this.#settings.controller;
    return prometheusUrl === undefined ? [] : [{ ports: tcp([portOf(prometheusUrl)]) }];
  }

  /** Clients of the apiserver's TLS port; undefined where they are not known. */
  #callers(): k8s.NetworkPolicyPeer[] | undefined {
    return this.#settings.networkPolicies.kubernetesApiCidrs && [pods('agent'), ...this.#api()];
  }

  /** The Kubernetes API, where it is known from where it dials. */
  #api(): k8s.NetworkPolicyPeer[] {
    return (this.#settings.networkPolicies.kubernetesApiCidrs ?? []).map((cidr) => ({ ipBlock: { cidr } }));
  }

  /** Readers of metrics, and `others`; undefined where the former are not known. */
  #readers(others: readonly k8s.NetworkPolicyPeer[] = []): k8s.NetworkPolicyPeer[] | undefined {
    const { metricsNamespace } = this.#settings.networkPolicies;
    if (metricsNamespace === undefined) return undefined;
    return [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': metricsNamespace } } }, ...others];
  }

  #addPolicy(
    component: Component,
    rules: {
      readonly ingress: k8s.NetworkPolicyIngressRule[];
      readonly egress: readonly k8s.NetworkPolicyEgressRule[];
    },
  ): ApiObject {
    const { networkPolicies } = this.#settings;
    return addObject(
      this,
      component,
      manifest('NetworkPolicy', {
        metadata: namespacedMeta(this.#settings, { name: `brupop-${component}`, component }),
        spec: {
          podSelector: { matchLabels: selectorLabels(component) },
          policyTypes: ['Ingress', 'Egress'],
          ingress: rules.ingress,
          egress: [{ ports: DNS }, { ports: tcp(networkPolicies.kubernetesApiPorts) }, ...rules.egress],
        },
      }),
    );
  }
}

const HTTPS_PORT = 443;

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'http:' ? 80 : HTTPS_PORT);
}

function pods(component: Component): k8s.NetworkPolicyPeer {
  return { podSelector: { matchLabels: selectorLabels(component) } };
}

/** A rule without `from` admits everybody. */
function from(peers: k8s.NetworkPolicyPeer[] | undefined): Pick<k8s.NetworkPolicyIngressRule, 'from'> {
  return peers ? { from: peers } : {};
}

const DNS: k8s.NetworkPolicyPort[] = ['UDP', 'TCP'].map((protocol) => ({
  protocol,
  port: intOrString(53),
}));

/** @internal */
export function tcp(ports: readonly number[]): k8s.NetworkPolicyPort[] {
  return ports.map((port) => ({ protocol: 'TCP', port: intOrString(port) }));
}
