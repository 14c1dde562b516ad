import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { parseRepositories, PUBLIC_REPOSITORY } from '../runtime/api/waves/repositories.ts';
import { type Component, selectorLabels } from './labels.ts';
import { intOrString, manifest } from './manifest.ts';
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
    return { ask: toPorts([portOf(releasesUrl)]), download: toPorts([HTTPS_PORT]) };
  }

  /** Egress of the controller to repositories of releases, at any address. */
  #repositories(): readonly k8s.NetworkPolicyEgressRule[] {
    const { repositories } = this.#settings;
    const listed = parseRepositories(repositories) ?? [PUBLIC_REPOSITORY];
    return toPorts(listed.flatMap(({ metadata, targets }) => [portOf(metadata), portOf(targets)]));
  }

  /** Egress of the controller to targets of notifications and to Alertmanagers, or to their proxies, at any address. */
  #notified(): readonly k8s.NetworkPolicyEgressRule[] {
    const { targets, silences } = this.#settings.notifications;
    return toPorts([...targets, ...silences].map(({ proxy, port }) => (proxy === undefined ? port : portOf(proxy))));
  }

  /** Egress of the controller to what answers the queries of checks, at any address. */
  #prometheus(): readonly k8s.NetworkPolicyEgressRule[] {
    const { prometheusUrl } = this.#settings.controller;
    return toPorts(prometheusUrl === undefined ? [] : [portOf(prometheusUrl)]);
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

/** Egress to these ports, at any address. Without any there is none. */
function toPorts(ports: readonly number[]): readonly k8s.NetworkPolicyEgressRule[] {
  const distinct = [...new Set(ports)].toSorted((a, b) => a - b);
  return distinct.length === 0 ? [] : [{ ports: tcp(distinct) }];
}

/** @internal */
export function tcp(ports: readonly number[]): k8s.NetworkPolicyPort[] {
  return ports.map((port) => ({ protocol: 'TCP', port: intOrString(port) }));
}
