import { getOrInsert } from '../../runtime/lib/maps.ts';
import type { Incoming } from './memory-http.ts';
import { PATHS } from '../../runtime/api/agent/protocol.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { at, fields, text } from '../sim/cluster/object.ts';
import type { TrueTime } from './clock.ts';
import { type Moment, MOMENTS } from './moment-names.ts';
import { nodeSelectedBy } from './tally.ts';
import type { Entry, Outcomes, Phase, Process, Struck, When, WriteEntry } from './types.ts';

/** What a process asks of whom. */
export type Asked =
  | { readonly to: 'api'; readonly request: Pick<KubeRequest, 'method' | 'path' | 'query' | 'body'> }
  | { readonly to: 'apiserver'; readonly request: Incoming }
  | { readonly to: 'host'; readonly request: { readonly method: string; readonly path: string } };

interface Met {
  readonly moment: Moment;
  readonly node?: string | undefined;
}

/** One request at whose moment faults may begin. */
export interface Meeting {
  readonly struck: { -readonly [Field in keyof Struck]: Struck[Field] };
  pass(phase: Phase): void;
}

type AimedAt = Extract<When, { kind: 'moment' }>;

interface Aim {
  readonly when: AimedAt;
  /** Whether a fault has begun. */
  readonly strike: (struck: Struck) => boolean;
}

const PREFIX = 'brupop.bottlerocket.aws';
const MARKS = `${PREFIX}/marks`;
const LB_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';

const LOOKED_AT: ReadonlySet<string> = new Set(['leases', 'nodes', 'bottlerocketshadows']);

/** Tells which rule's write each request is, counts them, and lets those faults begin that are aimed there. */
export class Moments {
  readonly #time: TrueTime;
  readonly #agentRuns: (node: string) => boolean;
  /** The last that was written of the Lease, of each Node and of each shadow: what a write is depends on what was there. */
  readonly #known = new Map<string, KubeObject>();
  /** By node, the UIDs of its pods but for those of DaemonSets. */
  readonly #pods = new Map<string, Set<string>>();
  readonly #counts = new Map<Moment, { seen: number; struck: number }>();
  #aims: Aim[] = [];

  /** @param agentRuns whether an agent's process is there on a node */
  constructor(time: TrueTime, agentRuns: (node: string) => boolean) {
    this.#time = time;
    this.#agentRuns = agentRuns;
    for (const moment of Object.keys(MOMENTS)) this.#counts.set(moment as Moment, { seen: 0, struck: 0 });
  }

  get counts(): Outcomes['moments'] {
    return Object.fromEntries(this.#counts);
  }

  /** Lets a fault begin at the first such request from then on. */
  aim(when: AimedAt, strike: (struck: Struck) => boolean): void {
    this.#aims.push({ when, strike });
  }

  /** No fault begins any more. */
  forget(): void {
    this.#aims = [];
  }

  see(entry: Entry): void {
    if (entry.kind !== 'write') return;
    const { resource, name, after } = entry;
    if (resource === 'pods') this.#seePod(entry);
    if (!LOOKED_AT.has(resource)) return;
    if (after) this.#known.set(name, after);
    else this.#known.delete(name);
  }

  #seePod({ before, after }: Pick<WriteEntry, 'before' | 'after'>): void {
    const { uid = '', ownerReferences = [] } = (after ?? before)?.metadata ?? {};
    if (ownerReferences.some(({ kind }) => kind === 'DaemonSet')) return;
    const node = text(at(after ?? before, 'spec', 'nodeName'));
    const there = getOrInsert(this.#pods, node, () => new Set());
    if (after) there.add(uid);
    else there.delete(uid);
  }

  /** The rule's moment that the request is, where faults begin; undefined for all others. */
  meet(process: Process, asked: Asked): Meeting | undefined {
    const met = momentOf(asked, { known: this.#known, pods: this.#pods, process, agentRuns: this.#agentRuns });
    if (!met) return undefined;
    const count = this.#counts.get(met.moment);
    if (count) count.seen += 1;
    const now = this.#time.monotonic();
    const due = this.#aims.filter(({ when }) => when.moment === met.moment && when.from <= now);
    if (due.length === 0) return undefined;
    this.#aims = this.#aims.filter((aim) => !due.includes(aim));
    return this.#meeting(met, process, due);
  }

  #meeting({ moment, node }: Met, process: Process, due: readonly Aim[]): Meeting {
    const struck: Meeting['struck'] = { process, ...(node !== undefined && { node }) };
    const passed = new Set<Phase>();
    let isCounted = false;
    // Where there is nothing to strike, or the storm is over, no fault begins.
    const begin = ({ strike }: Aim): void => {
      if (!strike(struck) || isCounted) return;
      isCounted = true;
      const count = this.#counts.get(moment);
      if (count) count.struck += 1;
    };
    return {
      struck,
      pass: (phase) => {
        if (passed.has(phase)) return;
        passed.add(phase);
        for (const aim of due) {
          const { when } = aim;
          if (when.phase !== phase) continue;
          if (when.delayMs > 0) this.#time.after(when.delayMs, () => begin(aim));
          else begin(aim);
        }
      },
    };
  }
}

interface Around {
  readonly known: ReadonlyMap<string, KubeObject>;
  readonly pods: ReadonlyMap<string, ReadonlySet<string>>;
  readonly process: Process;
  readonly agentRuns: (node: string) => boolean;
}

function momentOf(asked: Asked, around: Around): Met | undefined {
  if (asked.to === 'api') return (asked.request.method === 'GET' ? readOf : writeOf)(asked.request, around);
  const table = asked.to === 'host' ? HOST_CALLS : AGENT_CALLS;
  const moment = table[`${asked.request.method} ${asked.request.path}`];
  return moment && { moment, node: around.process.node };
}

const HOST_CALLS: Readonly<Record<string, Moment>> = {
  'POST /actions/reboot': 'reboot-asked',
  'POST /actions/prepare-update': 'prepare',
  'POST /actions/activate-update': 'activate',
  'POST /tx/commit?tx=brupop': 'locked',
};

const AGENT_CALLS: Readonly<Record<string, Moment>> = {
  [`POST ${PATHS.cordonAndDrain}`]: 'drain-asked',
  [`POST ${PATHS.uncordon}`]: 'release-asked',
  [`PUT ${PATHS.resource}`]: 'status-sent',
};

/** Whoever proves a Node to be drained looks at its pods first. */
function readOf({ path, query = {} }: Pick<KubeRequest, 'path' | 'query'>, around: Around): Met | undefined {
  const isList = path === '/api/v1/pods' && query['watch'] === undefined;
  const node = nodeSelectedBy(query['fieldSelector']);
  if (around.process.kind !== 'apiserver' || !isList || node === undefined) return undefined;
  return isEmptied(node, around) ? { moment: 'last-look', node } : undefined;
}

const isEmptied = (node: string, { known, pods }: Around): boolean =>
  at(known.get(node), 'metadata', 'annotations', MARKS) !== undefined && !pods.get(node)?.size;

type Write = Pick<KubeRequest, 'method' | 'path' | 'body'>;

const WRITES: readonly [RegExp, (write: Write, name: string, around: Around) => Met | undefined][] = [
  [/\/leases\/(brupop-controller)$/, leaseWrite],
  [/\/bottlerocketshadows\/brs-([^/]+)$/, shadowWrite],
  [/\/bottlerocketshadows\/brs-([^/]+)\/status$/, statusWrite],
  [/\/(bottlerocketshadows)$/, creation],
  [/\/nodes\/([^/]+)$/, nodeWrite],
  [/\/bottlerocketupdatepolicies\/([^/]+)\/status$/, () => ({ moment: 'policy-status' })],
  [/\/pods\/([^/]+)\/eviction$/, () => ({ moment: 'eviction' })],
  [/\/configmaps\/(brupop-notifications-state)$/, () => ({ moment: 'memory-written' })],
  [/\/(bottlerocketreleases)$/, ({ method }) => (method === 'POST' ? { moment: 'ledger-made' } : undefined)],
  [/\/bottlerocketreleases\/([^/]+)\/status$/, failureWrite],
];

function writeOf(write: Write, around: Around): Met | undefined {
  for (const [path, meaning] of WRITES) {
    const name = path.exec(write.path)?.[1];
    if (name !== undefined) return meaning(write, name, around);
  }
  return undefined;
}

function failureWrite({ body }: Write): Met | undefined {
  const entries = Object.values(fields(at(body, 'status', 'failures')));
  return entries.some((one) => one !== null) ? { moment: 'failure-entered' } : undefined;
}

function leaseWrite({ body }: Write, name: string, { known }: Around): Met {
  const before = known.get(name);
  const listIn = (lease: unknown): unknown => at(lease, 'metadata', 'annotations', `${PREFIX}/slots`);
  if (listIn(before) === undefined && listIn(body) !== undefined) return { moment: 'list-made' };
  const permits = (lease: unknown): string => text(listIn(lease)) || '[]';
  if (permits(body) !== permits(before)) {
    const count = (lease: unknown): number => permits(lease).split('nodeUid').length;
    return { moment: count(body) < count(before) ? 'permit-given-back' : 'permit-taken' };
  }
  const holder = (lease: unknown): unknown => at(lease, 'spec', 'holderIdentity');
  return { moment: holder(body) === holder(before) ? 'lease-renewal' : 'lease-takeover' };
}

function shadowWrite({ method, body }: Write, node: string, around: Around): Met | undefined {
  if (method === 'DELETE') return { moment: 'shadow-deleted', node };
  if (at(body, 'spec') === undefined)
    return at(body, 'metadata', 'annotations', `${PREFIX}/bumped`) === undefined ? undefined : { moment: 'bump', node };
  if (at(body, 'spec', 'state') === undefined) return { moment: 'wish-written', node };
  const moment = specWrite(body, node, around);
  return moment && { moment, node };
}

/** Undefined for one that only forgets what was wanted. */
function specWrite(body: unknown, node: string, { known, agentRuns }: Around): Moment | undefined {
  const before = known.get(`brs-${node}`);
  const [from, to] = [at(before, 'spec', 'state'), at(body, 'spec', 'state')];
  if (to === 'Idle') {
    if (from === 'Idle') return undefined;
    const isOver = from === 'MonitoringUpdate' || at(before, 'status', 'current_state') === 'ErrorReset';
    if (isOver) return 'spec-advance';
    return agentRuns(node) ? 'spec-call-off' : 'spec-rescue';
  }
  const isStart = from === 'Idle' || at(before, 'spec', 'version') !== at(body, 'spec', 'version');
  return isStart ? 'spec-start' : 'spec-advance';
}

const REACHED: Readonly<Record<string, Moment>> = {
  StagedAndPerformedUpdate: 'status-staged',
  RebootedIntoUpdate: 'status-rebooted',
  Idle: 'status-idle',
  ErrorReset: 'status-error-reset',
};

function statusWrite({ body }: Write, node: string, { known }: Around): Met | undefined {
  const status = fields(at(body, 'status'));
  if (typeof at(status, 'reboot', 'requested_at') === 'string') return { moment: 'reboot-recorded', node };
  const reached = text(status['current_state']);
  const before = at(known.get(`brs-${node}`), 'status', 'current_state');
  const moment = reached === before ? undefined : REACHED[reached];
  if (moment) return { moment, node };
  if (said(status) !== said(at(known.get(`brs-${node}`), 'status'))) return { moment: 'lock-recorded', node };
  if (reached === '' && status['drain'] != null) return { moment: 'drain-announced', node };
  return status['conditions'] === undefined ? undefined : { moment: 'condition', node };
}

/** What it says of the locks of its host, where it says anything of them. */
const said = (status: unknown): string =>
  JSON.stringify(['version_lock', 'ignore_waves'].map((key) => at(status, 'version_wish', 'ours', key) ?? null));

function creation({ method, body }: Write): Met | undefined {
  if (method !== 'POST') return undefined;
  return { moment: 'shadow-created', node: text(at(body, 'metadata', 'name')).replace(/^brs-/, '') };
}

function nodeWrite({ body }: Write, node: string, { known }: Around): Met | undefined {
  const annotations = fields(at(body, 'metadata', 'annotations'));
  const marks = annotations[MARKS];
  if (marks === null) return { moment: 'released', node };
  if (at(body, 'spec', 'unschedulable') === true) return { moment: 'cordon', node };
  if (typeof marks === 'string') {
    const moment = marksWrite(marks, { body, before: text(at(known.get(node), 'metadata', 'annotations', MARKS)) });
    return moment && { moment, node };
  }
  return annotations[`${PREFIX}/released`] === undefined ? undefined : { moment: 'node-touched', node };
}

/** What is written to the marks of a Node that stays as it is otherwise: what else they say is in each of these. */
function marksWrite(
  marks: string,
  { body, before }: { readonly body: unknown; readonly before: string },
): Moment | undefined {
  const of = (json: string, key: string): string | undefined =>
    new RegExp(`"${key}":("[^"]*"|\\[[^\\]]*\\])`).exec(json)?.[1];
  const isNew = (key: string): boolean => of(marks, key) !== undefined && of(marks, key) !== of(before, key);
  if (at(body, 'metadata', 'labels', LB_LABEL) !== undefined) return 'lb-excluded';
  if (isNew('proof')) return 'drained';
  if (isNew('volumesSince')) return 'volumes-awaited';
  const owns = (json: string): boolean => of(json, 'owns')?.includes('"cordon"') ?? false;
  return owns(before) && !owns(marks) ? 'disowned' : undefined;
}
