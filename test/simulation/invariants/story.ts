import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { BEGINS_AT, type Happening, type HostEntry, type Instant, type Scenario } from '../types.ts';
import { createInvariants } from './index.ts';
import type { Rule } from './rule.ts';

/** A history written by hand, and what judges find in it. */

export interface NodeState {
  readonly cordoned?: boolean;
  /** Null = none any more. */
  readonly marks?: object | null;
  readonly ready?: boolean;
  readonly held?: boolean;
  readonly managed?: boolean;
  readonly version?: string;
  readonly volumesInUse?: readonly string[];
  readonly boot?: string;
}

export interface ShadowState {
  readonly state?: string;
  readonly version?: string | null;
  readonly status?: object;
  readonly verdict?: string;
}

/** Those that a history tells of are written in it. */
const NO_POLICIES: Scenario['policies'] = { definedAt: 0, policies: {} };

interface Sending {
  readonly by?: string;
  /** Milliseconds before it landed. */
  readonly sent?: number;
  /** That its request carried. */
  readonly version?: string;
  readonly subresource?: string;
}

/** The marks of a drain that has cordoned. */
export const MARKED = { id: 'd', owns: ['cordon'] };
export const PROVEN = { ...MARKED, drained: '2026-03-02T00:00:00Z', proof: 'p' };

const NODE: Required<NodeState> = {
  cordoned: false,
  marks: null,
  ready: true,
  held: false,
  managed: true,
  version: '1.0.0',
  volumesInUse: [],
  boot: '',
};
const AT_REST = { current_state: 'Idle', current_version: '1.0.0', target_version: '1.1.0', crash_count: 0 };

const INITIAL: Required<ShadowState> = { state: 'Idle', version: null, status: AT_REST, verdict: '' };

export class Story {
  readonly breaches: string[] = [];
  readonly #judges;
  readonly #nodes = new Map<string, Required<NodeState> & { readonly uid: string }>();
  readonly #shadows = new Map<string, Required<ShadowState>>();
  readonly #objects = new Map<string, KubeObject>();
  #now: Instant = 0;
  #writes = 0;

  constructor(
    rules: readonly Rule[],
    given: Partial<Pick<Scenario, 'releases' | 'faults' | 'nodes'>> & { controller?: object } = {},
  ) {
    const {
      controller = {},
      releases = [
        { version: '1.0.0', from: 0 },
        { version: '1.1.0', from: 0 },
      ],
    } = given;
    const settings = { controller: controller as Record<string, string>, apiserver: {}, agent: {} };
    const scenario: Scenario = {
      seed: 1,
      nodes: 3,
      stormMs: 0,
      faults: [],
      policies: NO_POLICIES,
      ...given,
      releases,
      settings,
    };
    this.#judges = createInvariants(rules).map((one) => one.begin(scenario));
  }

  /** Some minutes later. */
  after(minutes: number): this {
    this.#now += minutes * 60_000;
    return this;
  }

  tell(happening: Happening): this {
    this.#now += 1;
    const entry = { at: this.#now, ...happening };
    for (const judge of this.#judges) this.breaches.push(...judge.see(entry));
    return this;
  }

  end(): this {
    for (const judge of this.#judges) this.breaches.push(...(judge.end?.(this.#now) ?? []));
    return this;
  }

  /** Nodes at rest, each with its host, agent and shadow, and a newer version offered. */
  fleet(...names: string[]): this {
    for (const name of names) {
      this.node(name).shadow(name, { state: 'Idle', status: AT_REST }, { by: 'apiserver-0' });
      this.host(name, { kind: 'up', bootId: `boot of ${name}`, version: '1.0.0' }).process(`agent-${name}`, 'starts');
    }
    return this;
  }

  node(name: string, change: NodeState = {}, { by = `kubelet ${name}`, ...sending }: Sending = {}): this {
    const before = this.#nodes.get(name) ?? { ...NODE, uid: `uid of ${name}` };
    const node = { ...before, ...change };
    this.#nodes.set(name, node);
    const annotations = {
      ...(node.marks && { 'brupop.bottlerocket.aws/marks': JSON.stringify(node.marks) }),
      ...(node.held && { 'brupop.bottlerocket.aws/hold': '' }),
    };
    const labels = node.managed ? { 'bottlerocket.aws/updater-interface-version': '2.0.0' } : {};
    return this.write('nodes', name, {
      object: {
        metadata: this.#meta(name, { uid: node.uid, annotations, labels }),
        spec: { unschedulable: node.cordoned },
        status: {
          conditions: [{ type: 'Ready', status: node.ready ? 'True' : 'Unknown' }],
          volumesInUse: node.volumesInUse,
          nodeInfo: { osImage: `Bottlerocket OS ${node.version} (aws-k8s-1.33)`, bootID: node.boot },
        },
      },
      sending: { by, ...sending },
    });
  }

  nodeGone(name: string): this {
    this.#nodes.delete(name);
    return this.write('nodes', name, { sending: { by: 'person' } });
  }

  shadow(name: string, change: ShadowState, { by = 'controller-0', ...sending }: Sending = {}): this {
    const before = this.#shadows.get(name) ?? INITIAL;
    const shadow = { ...before, ...change, status: { ...before.status, ...change.status } };
    this.#shadows.set(name, shadow);
    const { state, version, verdict, status } = shadow;
    const value = verdict === 'UpToDate' ? 'True' : 'False';
    const conditions = verdict === '' ? [] : [{ type: 'UpToDate', status: value, reason: verdict, message: '' }];
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: `uid of ${name}` }];
    return this.write('bottlerocketshadows', `brs-${name}`, {
      object: {
        metadata: this.#meta(`brs-${name}`, { ownerReferences }),
        spec: { state, version },
        status: { ...status, conditions },
      },
      sending: { by, ...sending },
    });
  }

  /** L1, in its order. */
  start(name: string): this {
    return this.slots(name).shadow(name, { state: 'StagedAndPerformedUpdate', version: '1.1.0' });
  }

  slots(...names: string[]): this {
    return this.lease('me', names);
  }

  /** Renewed, whoever writes it. */
  lease(holder: string, names: readonly string[], { by = 'controller-0', ...sending }: Sending = {}): this {
    const slots = names.map((name) => ({ shadow: `brs-${name}`, nodeUid: `uid of ${name}`, starts: this.#writes }));
    const annotations = { 'brupop.bottlerocket.aws/slots': JSON.stringify(names.length > 0 ? slots : []) };
    const spec = { holderIdentity: holder, renewTime: String(this.#now) };
    const object = { metadata: this.#meta('brupop-controller', { annotations }), spec };
    return this.write('leases', 'brupop-controller', { object, sending: { by, ...sending } });
  }

  pause(): this {
    const annotations = { 'brupop.bottlerocket.aws/paused': '' };
    const object = { metadata: this.#meta('brupop-bottlerocket-aws', { annotations }) };
    return this.write('namespaces', 'brupop-bottlerocket-aws', { object, sending: { by: 'person' } });
  }

  policy(name: string, spec: object): this {
    const object = { metadata: this.#meta(name, {}), spec };
    return this.write('bottlerocketupdatepolicies', name, { object, sending: { by: 'person' } });
  }

  /** A person forbids the release everywhere. */
  halt(version: string): this {
    const object = { metadata: this.#meta(version, {}), spec: { family: '*', version, decision: 'Halt' } };
    return this.write('bottlerocketreleases', version, { object, sending: { by: 'person' } });
  }

  /** It serves. */
  pod(name: string, { node: nodeName, labels }: { readonly node: string; readonly labels: object }): this {
    return this.write('pods', name, {
      object: {
        metadata: this.#meta(name, { labels }),
        spec: { nodeName },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      },
      sending: { by: 'kube-scheduler' },
    });
  }

  podGone(name: string, sending: Sending): this {
    return this.write('pods', name, { sending });
  }

  budget(name: string, disruptionsAllowed: number): this {
    const spec = { selector: { matchLabels: { app: name } } };
    const object = { metadata: this.#meta(name, {}), spec, status: { disruptionsAllowed } };
    return this.write('poddisruptionbudgets', name, { object, sending: { by: 'kube-controller-manager' } });
  }

  host(node: string, event: HostEntry['event']): this {
    return this.tell({ kind: 'host', node, event });
  }

  call(node: string, action: string): this {
    return this.host(node, { kind: 'call', method: 'POST', path: `/actions/${action}`, status: 204 });
  }

  process(process: string, event: 'starts' | 'killed' | 'failed'): this {
    return this.tell({ kind: 'process', process, event });
  }

  calm(): this {
    return this.tell({ kind: 'calm' });
  }

  write(
    resource: string,
    name: string,
    { object, sending }: { readonly object?: object; readonly sending: Sending },
  ): this {
    const { by = 'person', sent = 0, subresource, version } = sending;
    const key = `${resource}/${name}`;
    const before = this.#objects.get(key);
    const after = object as KubeObject | undefined;
    if (after) this.#objects.set(key, after);
    else this.#objects.delete(key);
    const sentAt = this.#now - sent;
    const about = { resource, name, namespace: undefined, subresource, version };
    return this.tell({ kind: 'write', by, sentAt, ...about, before, after });
  }

  #meta(name: string, more: object): KubeObject['metadata'] {
    this.#writes += 1;
    return { name, uid: `uid of ${name}`, resourceVersion: String(this.#writes), ...more };
  }
}

/** What a clock shows some minutes after the beginning. */
export const timeAt = (minutes: number): string => new Date(BEGINS_AT + minutes * 60_000).toISOString();
