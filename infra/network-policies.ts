import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { type Component, selectorLabels } from './labels.ts';
import { addObject, namespacedMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/**
 * Which connections each process needs, and no others. Who may connect to a port is left open: conversion requests come from the
 * control plane and scrapes from wherever Prometheus runs, and a probe comes from the node.
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
    const { agent, apiserver, controller } = settings;
    const toApiserver: k8s.NetworkPolicyEgressRule = {
      to: [{ podSelector: { matchLabels: selectorLabels('apiserver') } }],
      ports: tcp([apiserver.internalPort]),
    };
    this.agent = this.#addPolicy('agent', { ingress: [agent.httpPort], egress: [toApiserver] });
    this.apiserver = this.#addPolicy('apiserver', {
      ingress: [apiserver.internalPort, apiserver.httpPort],
      egress: [],
    });
    this.controller = this.#addPolicy('controller', { ingress: [controller.httpPort], egress: [] });
  }

  #addPolicy(
    component: Component,
    rules: { readonly ingress: readonly number[]; readonly egress: readonly k8s.NetworkPolicyEgressRule[] },
  ): ApiObject {
    const { networkPolicies } = this.#settings;
    return addObject(
      this,
      component,
      k8s.KubeNetworkPolicy.manifest({
        metadata: namespacedMeta(this.#settings, { name: `brupop-${component}`, component }),
        spec: {
          podSelector: { matchLabels: selectorLabels(component) },
          policyTypes: ['Ingress', 'Egress'],
          ingress: [{ ports: tcp(rules.ingress) }],
          egress: [{ ports: DNS }, { ports: tcp(networkPolicies.kubernetesApiPorts) }, ...rules.egress],
        },
      }),
    );
  }
}

const DNS: k8s.NetworkPolicyPort[] = ['UDP', 'TCP'].map((protocol) => ({
  protocol,
  port: k8s.IntOrString.fromNumber(53),
}));

function tcp(ports: readonly number[]): k8s.NetworkPolicyPort[] {
  return ports.map((port) => ({ protocol: 'TCP', port: k8s.IntOrString.fromNumber(port) }));
}
