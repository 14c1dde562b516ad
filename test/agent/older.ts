import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ShadowObject, shadowsPath } from '../../runtime/api/resources.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { type Clock, rfc3339 } from '../../runtime/lib/clock.ts';
import type { Spec } from '../../runtime/api/shadow/model.ts';
import { API_VERSION, KIND, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { nextState } from '../../runtime/api/shadow/states.ts';
import { OLDER_SCHEMA } from '../e2e/older-crd.ts';
import { json, ScriptedServer, type Identity, type Seen } from '../kube/tls-server.ts';
import { shadowCrd } from '../shadow-crd.ts';

const NODE = '/api/v1/nodes/n1';
const SHADOWS = shadowsPath(NAMESPACE);
const SHADOW = `${SHADOWS}/${shadowName('n1')}`;
const LB_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';

/** The custom resource as the older implementation defines it: what it does not know is pruned. */
export const OLDER_CRD = shadowCrd(OLDER_SCHEMA);

/** Fields of a status that the older apiserver reads into its struct, and whether it can do without. */
const STATUS_FIELDS: Readonly<Record<string, 'required' | 'optional'>> = {
  current_version: 'required',
  target_version: 'required',
  current_state: 'required',
  crash_count: 'required',
  state_transition_failure_timestamp: 'optional',
};

interface Parts {
  readonly transport: KubeTransport;
  readonly clock: Clock;
}

/** The older implementation's apiserver and controller for the node `n1`, each for itself, as its agents and its users know them. */
export class OlderParts {
  /** Specs that the controller wrote, in order. */
  readonly wanted: Spec[] = [];
  readonly #transport: KubeTransport;
  readonly #clock: Clock;

  constructor({ transport, clock }: Parts) {
    this.#transport = transport;
    this.#clock = clock;
  }

  async shadow(): Promise<ShadowObject> {
    return (await this.#transport.request({ method: 'GET', path: SHADOW })) as ShadowObject;
  }

  async node(): Promise<Node> {
    return (await this.#transport.request({ method: 'GET', path: NODE })) as Node;
  }

  /** One look of the controller. */
  async control(): Promise<void> {
    const shadow = await this.shadow().catch(() => undefined);
    const spec = shadow && nextSpec(shadow, this.#clock.now());
    if (!shadow || !spec || JSON.stringify(spec) === JSON.stringify(shadow.spec)) return;
    this.wanted.push(spec);
    await this.#patch(SHADOW, { spec });
  }

  /** What the apiserver does. @throws Error where it answers with one */
  async serve({ method, url, headers, body }: Seen): Promise<unknown> {
    for (const name of ['brupopnodename', 'brupopnodeuid', 'brupopk8sauthtoken'])
      if (!headers[name]) throw new Error(`Missing header ${name}`);
    const action = `${method} ${url.replace('/bottlerocket-node-resource', '')}`;
    switch (action) {
      case 'POST ':
        return this.#create();
      case 'PUT ':
        return this.#putStatus(JSON.parse(body) as Record<string, unknown>);
      case 'POST /cordon-and-drain':
        return void (await this.#patch(NODE, { spec: { unschedulable: true } }));
      case 'POST /uncordon':
        return void (await this.#patch(NODE, { spec: { unschedulable: null } }));
      case 'POST /exclude-from-lb':
        return void (await this.#patch(NODE, { metadata: { labels: { [LB_LABEL]: 'True' } } }));
      case 'POST /remove-exclusion-from-lb':
        return void (await this.#patch(NODE, { metadata: { labels: { [LB_LABEL]: null } } }));
      default:
        throw new Error(`no route ${action}`);
    }
  }

  async #create(): Promise<unknown> {
    const { uid } = (await this.node()).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid }];
    const metadata = { name: shadowName('n1'), namespace: NAMESPACE, ownerReferences };
    const body = { apiVersion: API_VERSION, kind: KIND, metadata, spec: { state: 'Idle' } };
    return this.#transport.request({ method: 'POST', path: SHADOWS, body });
  }

  /** It reads the body into a struct: a required field that is missing is an error, one that it does not know is dropped. */
  async #putStatus(sent: Readonly<Record<string, unknown>>): Promise<unknown> {
    const fields = Object.entries(STATUS_FIELDS);
    const missing = fields.filter(([name, need]) => need === 'required' && sent[name] == null);
    if (missing.length > 0) throw new Error(`missing field ${missing[0]?.[0]}`);
    const status = Object.fromEntries(fields.map(([name]) => [name, sent[name] ?? null]));
    await this.#patch(`${SHADOW}/status`, { apiVersion: API_VERSION, kind: KIND, status });
    return status;
  }

  #patch(path: string, body: object): Promise<unknown> {
    const contentType = 'application/merge-patch+json';
    return this.#transport.request({ method: 'PATCH', path, body, contentType });
  }
}

/** Both over the wire. */
export class OlderOperator extends OlderParts {
  /** Requests of agents, in order. */
  readonly seen: Seen[] = [];
  readonly server: ScriptedServer;

  constructor(identity: Identity, parts: Parts) {
    super(parts);
    this.server = new ScriptedServer(identity, (seen, response) => void this.#answer(seen, response));
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  async #answer(seen: Seen, response: ServerResponse): Promise<void> {
    this.seen.push(seen);
    try {
      const body = await this.serve(seen);
      if (body) json(response, 200, body);
      else response.writeHead(200).end();
    } catch (error) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error));
    }
  }
}

/** What the older controller wants next. */
function nextSpec({ spec, status }: ShadowObject, now: number): Spec {
  if (!status) return { state: 'Idle' };
  const stamp = { state_transition_timestamp: rfc3339(now) };
  if (status.current_state === 'ErrorReset' && spec.state !== 'Idle') return { ...spec, ...stamp, state: 'Idle' };
  if (status.current_state !== spec.state) return spec;
  if (spec.state !== 'Idle') return { ...spec, ...stamp, state: nextState(spec.state) };
  if (status.current_version === status.target_version) return { state: 'Idle' };
  const pauseMs = Math.min(2 ** status.crash_count, 1440) * 60_000;
  const failedAt = Date.parse(status.state_transition_failure_timestamp ?? '');
  if (status.crash_count > 0 && now - failedAt <= pauseMs) return spec;
  return { ...stamp, state: 'StagedAndPerformedUpdate', version: status.target_version };
}
