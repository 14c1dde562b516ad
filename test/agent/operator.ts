import type { AgentApi, ApiAnswer, Caller, NodeAction, StatusPut } from '../../runtime/agent/apiserver/client.ts';
import { createApiserver } from '../../runtime/apiserver/apiserver.ts';
import { readApiserverConfig } from '../../runtime/apiserver/config.ts';
import type { ShadowObject } from '../../runtime/api/resources.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { Latest } from '../../runtime/lib/latest.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { LB_LABEL, MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { hintText } from '../../runtime/api/shadow/hint.ts';
import { CRD_NAME, NAMESPACE, STAGE_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import type { Spec, Status } from '../../runtime/api/shadow/model.ts';
import { crdSchema } from '../../runtime/api/shadow/schema.ts';
import { nextState } from '../../runtime/api/shadow/states.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { Objects, SHADOWS } from '../apiserver/objects.ts';
import { seeded } from '../random.ts';
import { inProcess } from './joined.ts';
import { asOlder } from './older-service.ts';

const NODE = '/api/v1/nodes/n1';
const SHADOW = `${SHADOWS}/brs-n1`;
const CONFIG = readApiserverConfig({ DRAIN_TIMEOUT_IN_SEC: '86400' });

type Ask = NodeAction | 'putStatus' | 'createShadow';

export interface OperatorOptions {
  readonly clock: Clock;
  /** Fields of the status that the cluster's CRD does not know. */
  readonly drops?: readonly (keyof Status)[];
  /** As the older implementation's apiserver, it compares no resourceVersions. */
  readonly older?: boolean;
  /** What the node is told to run. @default what its host offers */
  readonly told?: string;
}

/** The node `n1` and its shadow in an embedded cluster, the real apiserver without its sockets, a kubelet with one pod, and a plain controller. */
export class Operator implements AgentApi {
  /** The API server, as an administrator reaches it. */
  readonly transport: KubeTransport;
  /** The shadow as it is. */
  readonly shadow = new Latest<ShadowObject | undefined>(undefined);
  /** What was asked and granted, in order: actions, and statuses by their state. */
  readonly log: string[] = [];
  /** Takes the place of the real answer, for as long as it returns one. */
  answer: (ask: Ask) => ApiAnswer | undefined = () => undefined;
  /** Runs before each request that is not scripted; what it does to the cluster is done before the request. */
  before: (ask: Ask) => void = () => undefined;
  /** What the pod takes to end. */
  drainMs = 10_000;
  /** Starts and goes on with updates, as the contract has it. */
  obeying = true;
  /** Does not change spec for the moment. */
  holding = false;
  /** Releases a node at rest that is still cordoned, as the controller does for a shadow that was made anew. */
  rescuing = false;
  #watchable = true;
  /** Pods that the node has had, and those of them that have been evicted. */
  #pods = 1;
  readonly #evicted = new Set<string>();
  #touched = 0;
  #node: Node = { metadata: { name: 'n1', uid: '', resourceVersion: '' } };
  /** What a test or the controller has begun to write. Whoever asks next sees it done. */
  #writes: Promise<unknown>;
  readonly #objects: Objects;
  readonly #api: AgentApi;
  readonly #options: OperatorOptions;

  constructor(options: OperatorOptions) {
    const { clock } = options;
    const random = seeded();
    const inner = new EmbeddedCluster({ clock, random }).transport(ADMIN);
    const wire = (note: (request: KubeRequest, answer: unknown) => void): KubeTransport => ({
      watch: (watch) => inner.watch(watch),
      request: async (request) => {
        const answer = await inner.request(request);
        note(request, answer);
        return answer;
      },
    });
    this.transport = wire((request, answer) => this.#see(request, answer));
    this.#options = options;
    this.#objects = new Objects(this.transport);
    const { service } = createApiserver({
      transport: wire((request, answer) => {
        this.#note(request, answer);
        this.#see(request, answer);
      }),
      namespace: NAMESPACE,
      config: CONFIG,
      clock,
      random,
      logger: silentLogger,
      instance: 'replica',
    });
    this.#api = inProcess(options.older ? asOlder(service) : service, clock);
    this.#writes = this.#begin();
  }

  get status(): Status {
    const status = this.shadow.value?.status;
    if (!status) throw new Error('no status yet');
    return status;
  }

  get node(): { uid: string; cordoned: boolean; drained: boolean; lbExcluded: boolean } {
    const { metadata, spec } = this.#node;
    const marks = JSON.parse(metadata.annotations?.[MARKS_ANNOTATION] ?? '{}') as { drained?: string };
    const cordoned = spec?.unschedulable === true;
    const lbExcluded = metadata.labels?.[LB_LABEL] !== undefined;
    return { uid: metadata.uid, cordoned, drained: cordoned && marks.drained !== undefined, lbExcluded };
  }

  /** Resolves when all that was begun here is done. */
  async settled(): Promise<void> {
    for (let seen; seen !== this.#writes;) await (seen = this.#writes);
  }

  /** What the controller writes. */
  want(spec: Spec): void {
    this.#write(() => this.#objects.setSpec({ version: null, ...spec }));
  }

  /** What the controller names to be prepared at rest; null = nothing any more. */
  hint(version: string | null): void {
    const value = version === null ? null : hintText(version, this.#options.clock.now());
    this.#write(() => this.#objects.patch(SHADOW, { metadata: { annotations: { [STAGE_ANNOTATION]: value } } }));
  }

  /** What somebody else writes: another process, a person, or a write from the past. It makes a new version in any case. */
  overwrite(status: Partial<Status>): void {
    const annotations = { touched: String(++this.#touched) };
    this.#write(() => this.#objects.patch(SHADOW, { metadata: { annotations } }));
    this.#write(() => this.#objects.setStatus(status));
  }

  deleteShadow(): void {
    this.#write(async () => this.shadow.value && this.#objects.delete(SHADOW));
  }

  /** The host has booted. */
  booted(version: string, bootID: string): void {
    this.#write(() => this.#objects.boots(version, bootID));
  }

  /** What the controller does for a node that nobody else would put back into service. */
  release(): void {
    const metadata = { annotations: { [MARKS_ANNOTATION]: null }, labels: { [LB_LABEL]: null } };
    this.#write(() => this.#objects.patch(NODE, { metadata, spec: { unschedulable: null } }));
  }

  /** Another node gets the name. The garbage collector has not come to the shadow of the one before. */
  replaceNode(): void {
    this.#write(async () => {
      const { status, metadata } = this.#node;
      const keeper = (await this.#objects.get(`/api/v1/namespaces/${NAMESPACE}`)) as Node;
      const owner = { apiVersion: 'v1', name: NAMESPACE, kind: 'Namespace', uid: keeper.metadata.uid };
      const shadow = await this.#objects.shadow();
      const ownerReferences = [...(shadow.metadata.ownerReferences ?? []), owner];
      await this.#objects.patch(SHADOW, { metadata: { ownerReferences } });
      await this.#objects.delete(NODE);
      await this.#objects.create('/api/v1/nodes', { metadata: { name: metadata.name } });
      await this.#objects.patch(`${NODE}/status`, { status });
    });
  }

  /** Whether watches tell anything. What changes meanwhile they tell later. */
  set watchable(watchable: boolean) {
    this.#watchable = watchable;
    this.shadow.set(this.shadow.value);
  }

  async *watch(signal: AbortSignal): AsyncGenerator<ShadowObject | undefined> {
    let seen: ShadowObject | undefined | symbol = Symbol('nothing seen');
    await this.settled();
    while (!signal.aborted) {
      try {
        const now = await this.shadow.until((value) => value !== seen && this.#watchable, signal);
        seen = now;
        yield now;
      } catch {
        return;
      }
    }
  }

  createShadow(caller: Caller): Promise<ApiAnswer> {
    return this.#asked('createShadow', caller, async () => {
      const before = this.shadow.value;
      const answer = await this.#api.createShadow(caller);
      if (!before && answer.kind === 'ok') this.log.push('createShadow');
      return answer;
    });
  }

  putStatus(caller: Caller, put: StatusPut): Promise<ApiAnswer> {
    return this.#asked('putStatus', caller, async () => {
      const before = this.shadow.value?.metadata.resourceVersion;
      const answer = await this.#api.putStatus(caller, put);
      if (this.shadow.value?.metadata.resourceVersion === before) return answer;
      this.#control();
      await this.settled();
      return answer;
    });
  }

  act(caller: Caller, action: NodeAction, signal?: AbortSignal): Promise<ApiAnswer> {
    return this.#asked(action, caller, async () => {
      const answer = await this.#api.act(caller, action, signal);
      if (answer.kind === 'ok') this.log.push(action);
      return answer;
    });
  }

  async #begin(): Promise<void> {
    await this.#objects.prepare();
    if (this.#options.drops) await this.#drop(this.#options.drops);
    await this.#objects.addNode('n1');
    await this.#objects.addPod('web-1');
  }

  async #drop(fields: readonly (keyof Status)[]): Promise<void> {
    const schema = JSON.parse(JSON.stringify(crdSchema('v2'))) as {
      properties: { status: { properties: Record<string, unknown> } };
    };
    for (const field of fields) delete schema.properties.status.properties[field];
    const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;
    const v2 = { name: 'v2', served: true, storage: true, subresources: { status: {} } };
    await this.#objects.patch(crd, { spec: { versions: [{ ...v2, schema: { openAPIV3Schema: schema } }] } });
  }

  #write(write: () => Promise<unknown>): void {
    this.#writes = this.#writes.then(write);
  }

  async #asked(ask: Ask, { nodeUid }: Caller, real: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    await this.settled();
    if (nodeUid !== this.node.uid) return { kind: 'unauthorized', message: '403: not the UID of the node' };
    const scripted = this.answer(ask);
    if (scripted) return scripted;
    this.before(ask);
    await this.settled();
    return real();
  }

  /** A status that the apiserver has written is in the log before anybody can see it. */
  #note({ path, body }: KubeRequest, answer: unknown): void {
    const { status } = (body ?? {}) as { status?: StatusPut['status'] };
    const isNew = (answer as ShadowObject).metadata?.resourceVersion !== this.shadow.value?.metadata.resourceVersion;
    if (path === `${SHADOW}/status` && status?.current_state !== undefined && isNew) this.log.push(saying(status));
  }

  /** Every write passes here: what came of it is known at once. */
  #see({ method, path }: KubeRequest, answer: unknown): void {
    if (method === 'GET') return;
    if (path.endsWith('/eviction')) this.#terminate(path.split('/').at(-2) ?? '');
    if ([NODE, `${NODE}/status`, '/api/v1/nodes'].includes(path)) this.#seeNode(answer as Node);
    if (path.startsWith(SHADOWS)) this.shadow.set(method === 'DELETE' ? undefined : (answer as ShadowObject));
  }

  /** A node in service gets a new pod in place of one that was evicted. */
  #seeNode(node: Node): void {
    this.#node = node;
    if (node.spec?.unschedulable || this.#evicted.size < this.#pods) return;
    const name = `web-${++this.#pods}`;
    this.#write(() => this.#objects.addPod(name));
  }

  #terminate(name: string): void {
    if (this.#evicted.has(name)) return;
    this.#evicted.add(name);
    void this.#options.clock.sleep(this.drainMs).then(() => this.#write(() => this.#objects.endPod(name)));
  }

  /** The contract's state machine, without backoff. */
  #control(): void {
    const { spec } = this.shadow.value ?? {};
    if (!spec || !this.obeying || this.holding) return;
    const { current_state: reached } = this.status;
    if (reached === 'ErrorReset') return this.want({ ...spec, state: 'Idle' });
    if (reached !== spec.state) return;
    if (reached === 'Idle') return this.#atRest();
    this.want({ ...spec, state: nextState(reached) });
  }

  #atRest(): void {
    if (this.rescuing) this.release();
    const { current_version: running, target_version: offered, crash_count: crashes } = this.status;
    const target = this.#options.told ?? offered;
    if (running !== target && crashes === 0) this.want({ state: 'StagedAndPerformedUpdate', version: target });
  }
}

function saying({ current_state: state, reboot, target_version: target }: StatusPut['status']): string {
  const record = reboot ? (reboot.requested_at ? ' record' : ' probe') : '';
  return `${state} ->${target}${record}`;
}
