import type { Caller, NodeAction, ApiAnswer, AgentApi, StatusPut } from '../../runtime/agentapi/client.ts';
import { whyNotDrain, whyNotRelease } from '../../runtime/apiserver/rules.ts';
import type { ShadowObject } from '../../runtime/kube/objects.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { Latest } from '../../runtime/lib/latest.ts';
import type { Spec, Status } from '../../runtime/shadow/model.ts';
import { nextState } from '../../runtime/shadow/states.ts';

const OK: ApiAnswer = { kind: 'ok' };
const refused = (message: string): ApiAnswer => ({ kind: 'refused', message });

export interface OperatorOptions {
  readonly clock: Clock;
  /** Fields of the status that the cluster's CRD does not know. */
  readonly drops?: readonly (keyof Status)[];
  /** The older implementation's apiserver: compares no resourceVersions. */
  readonly older?: boolean;
}

/** One node's shadow and Node, an apiserver that keeps to the rules the agent relies on, and a controller of the plain contract. */
export class Operator implements AgentApi {
  readonly shadow = new Latest<ShadowObject | undefined>(undefined);
  readonly node = { uid: 'node-uid-1', cordoned: false, drained: false, lbExcluded: false, osVersion: '', bootId: '' };
  /** What was asked and granted, in order: actions, and statuses by their state. */
  readonly log: string[] = [];
  /** Takes the place of the real answer, for as long as it returns one. */
  answer: (ask: NodeAction | 'putStatus' | 'createShadow') => ApiAnswer | undefined = () => undefined;
  /** Runs before each granted request takes effect. */
  before: (ask: NodeAction | 'putStatus' | 'createShadow') => void = () => undefined;
  drainMs = 10_000;
  /** Starts and goes on with updates, as the contract has it. */
  obeying = true;
  /** Does not change spec for the moment. */
  holding = false;
  /** Releases a node at rest that is still cordoned, as the controller does for a shadow that was made anew. */
  rescuing = false;
  #watchable = true;
  readonly #options: OperatorOptions;
  #version = 0;
  #uid = 0;

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  get status(): Status {
    const status = this.shadow.value?.status;
    if (!status) throw new Error('no status yet');
    return status;
  }

  /** What the controller writes. */
  want(spec: Spec): void {
    const { value } = this.shadow;
    if (!value) throw new Error('no shadow');
    this.#store({ ...value, spec });
  }

  /** What somebody else writes: another process, a person, or a write from the past. */
  overwrite(status: Partial<Status>): void {
    const { value } = this.shadow;
    if (!value) throw new Error('no shadow');
    this.#store({ ...value, status: { ...this.status, ...status } });
  }

  /** Whether watches tell anything. What changes meanwhile they tell later. */
  set watchable(watchable: boolean) {
    this.#watchable = watchable;
    this.shadow.set(this.shadow.value);
  }

  deleteShadow(): void {
    this.shadow.set(undefined);
  }

  async *watch(signal: AbortSignal): AsyncGenerator<ShadowObject | undefined> {
    let seen: ShadowObject | undefined | symbol = Symbol('nothing seen');
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

  async createShadow(caller: Caller): Promise<ApiAnswer> {
    const scripted = this.#scripted('createShadow', caller);
    if (scripted) return scripted;
    this.before('createShadow');
    if (this.shadow.value) return OK;
    const owner = { apiVersion: 'v1', kind: 'Node', name: caller.nodeName, uid: caller.nodeUid };
    const metadata = { name: `brs-${caller.nodeName}`, uid: `shadow-${++this.#uid}`, ownerReferences: [owner] };
    this.log.push('createShadow');
    this.#store({ metadata: { ...metadata, resourceVersion: '' }, spec: { state: 'Idle' } });
    return OK;
  }

  async putStatus(caller: Caller, { status, shadowVersion }: StatusPut): Promise<ApiAnswer> {
    const scripted = this.#scripted('putStatus', caller);
    if (scripted) return scripted;
    this.before('putStatus');
    const { value } = this.shadow;
    if (!value) return { kind: 'failed', message: '404' };
    if (!this.#options.older && value.metadata.resourceVersion !== shadowVersion) return refused('conflict');
    const merged = Object.fromEntries(
      Object.entries({ ...value.status, ...status }).filter(([field, inner]) => inner !== null && !this.#drops(field)),
    ) as unknown as Status;
    if (JSON.stringify(merged) === JSON.stringify(value.status)) return OK;
    this.log.push(saying(status));
    this.#store({ ...value, status: merged });
    this.#control();
    return OK;
  }

  async act(caller: Caller, action: NodeAction): Promise<ApiAnswer> {
    const scripted = this.#scripted(action, caller);
    if (scripted) return scripted;
    this.before(action);
    const refusal = this.#refusal(action);
    if (refusal) return refused(refusal);
    if (action === 'cordonAndDrain') await this.#drain();
    const late = this.#refusal(action);
    if (late) return refused(late);
    if (action === 'uncordon') Object.assign(this.node, { cordoned: false, drained: false });
    if (action === 'excludeFromLb') this.node.lbExcluded = true;
    if (action === 'removeExclusionFromLb') this.node.lbExcluded = false;
    this.log.push(action);
    return OK;
  }

  /** Goes on whether or not anybody waits for it; released meanwhile, it has drained nothing. */
  async #drain(): Promise<void> {
    this.node.cordoned = true;
    if (!this.node.drained) await this.#options.clock.sleep(this.drainMs);
    this.node.drained = this.node.cordoned;
  }

  #scripted(ask: NodeAction | 'putStatus' | 'createShadow', { nodeUid }: Caller): ApiAnswer | undefined {
    if (nodeUid !== this.node.uid) return { kind: 'unauthorized', message: '403: not the UID of the node' };
    return this.answer(ask);
  }

  /** The apiserver's own rules. */
  #refusal(action: NodeAction): string | undefined {
    const shadow = this.shadow.value;
    if (!shadow) return 'no shadow';
    const { uid, osVersion, bootId: bootID } = this.node;
    const osImage = `Bottlerocket OS ${osVersion} (aws-k8s-1.33)`;
    const node = { metadata: { name: 'n1', uid, resourceVersion: '1' }, status: { nodeInfo: { osImage, bootID } } };
    const gate = action === 'cordonAndDrain' || action === 'excludeFromLb';
    return gate ? whyNotDrain({ node, shadow }) : whyNotRelease({ node, shadow });
  }

  #drops(field: string): boolean {
    return this.#options.drops?.includes(field as keyof Status) ?? false;
  }

  #store(shadow: ShadowObject): void {
    const metadata = { ...shadow.metadata, resourceVersion: String(++this.#version) };
    this.shadow.set({ ...shadow, metadata });
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
    if (this.rescuing) Object.assign(this.node, { cordoned: false, lbExcluded: false });
    const { current_version: running, target_version: target, crash_count: crashes } = this.status;
    if (running !== target && crashes === 0) this.want({ state: 'StagedAndPerformedUpdate', version: target });
  }
}

function saying({ current_state: state, reboot, target_version: target }: StatusPut['status']): string {
  const record = reboot ? (reboot.requested_at ? ' record' : ' probe') : '';
  return `${state} ->${target}${record}`;
}
