import type { Random } from '../../runtime/lib/random.ts';
import type { EmbeddedCluster } from '../sim/cluster/cluster.ts';
import type { Entry } from './entries.ts';
import type { KubernetesEnvironment } from './environment/environment.ts';
import type { Moment } from './moment-names.ts';
import type { SimulatedNetwork } from './network.ts';
import type { Topic } from './plots.ts';
import type { PolicySpec } from './policies.ts';

export type * from './entries.ts';

/** Milliseconds of true time since the simulation began. What a machine or process believes is another matter. */
export type Instant = number;

/** What the clock of the Kubernetes API shows when a simulation begins, milliseconds since the Unix epoch: a Monday, midnight UTC. */
export const BEGINS_AT = Date.UTC(2026, 2, 2);

/** Everything that one run is made of. The same scenario plays the same run, to the last request. */
export interface Scenario {
  readonly seed: number;
  readonly nodes: number;
  /** How long the storm lasts. What comes after is calm, and as long as liveness needs. */
  readonly stormMs: number;
  /** What most of the storm is about, if it is about anything. */
  readonly topic?: Topic;
  readonly settings: Settings;
  readonly policies: PolicyWorld;
  /** Which release is offered from when on, the oldest first; the first is what the machines run when it all begins. One that is bad boots and is unwell, or does not boot. */
  readonly releases: readonly Release[];
  readonly faults: readonly PlannedFault[];
}

/** Environment variables by process. What is absent has its default. */
export interface Settings {
  readonly controller: Readonly<Record<string, string>>;
  readonly apiserver: Readonly<Record<string, string>>;
  readonly agent: Readonly<Record<string, string>>;
}

/** What administrators have decided with policy resources when it all begins, or as soon as there are any. */
export interface PolicyWorld {
  /** When the kind is installed; undefined = never. */
  readonly definedAt: Instant | undefined;
  /** Specs by name. */
  readonly policies: Readonly<Record<string, PolicySpec>>;
}

export interface Release {
  readonly version: string;
  readonly from: Instant;
  readonly bad?: 'does-not-boot' | 'never-ready' | 'agent-never-runs' | 'unwell-later' | 'breaks-daemon';
}

/** One thing that goes wrong. The shrinker leaves out whole entries, so none may rely on another. */
export interface PlannedFault {
  /** Unique in the scenario; printed, and by which `--only` names it. */
  readonly id: number;
  /** Name in the catalogue of faults. */
  readonly kind: string;
  readonly when: When;
  /** How long it lasts where it lasts. */
  readonly forMs: number;
  /** Seeds what the fault draws for itself, so that leaving out another fault does not change it. */
  readonly dice: number;
}

/** At a time, or aimed: around the first write of a rule at or after `from`. All that aim at the same moment from the same time strike the same request, in the order of their phases. */
export type When =
  | { readonly kind: 'at'; readonly at: Instant }
  | {
      readonly kind: 'moment';
      readonly moment: Moment;
      readonly phase: Phase;
      readonly from: Instant;
      /** How long after it; 0 = within it, while the request waits for what the fault makes of it. */
      readonly delayMs: number;
    };

/** Before it is sent; between its landing and its answer; after the answer. */
export type Phase = 'before' | 'between' | 'after';

/** A fault of the catalogue. */
export interface FaultKind {
  readonly name: string;
  /** What happens, in one line. */
  readonly what: string;
  /** How often it is drawn, compared with the others. */
  readonly weight: number;
  /** How long it lasts, milliseconds: from, to. Drawn evenly by orders of magnitude. */
  readonly lasts: readonly [number, number];
  /** Where it may be aimed: all moments unless told. */
  readonly aim?: readonly Moment[];
  /** All of them unless told. */
  readonly phases?: readonly Phase[];
  /** Begins. Undefined where there is nothing to strike. `struck` is the request at whose moment it begins, where it is aimed (with a delay, too). */
  begin(world: World, terms: Terms): Begun | undefined;
}

/** What a fault is told when it begins. */
export interface Terms {
  readonly random: Random;
  readonly forMs: number;
  readonly struck?: Struck;
}

/** A fault that has begun. */
export interface Begun {
  /** Of the process, node or object that it strikes, with what distinguishes it: `controller-1`, `node-3: 504, lands after 20 s`. */
  readonly about: string;
  /** Called once, after `forMs`, or at the calm. Does nothing where nothing lasts. */
  end?(): void;
}

/** The request at whose moment a fault begins. */
export interface Struck {
  readonly process: Process;
  /** Of the node that the request is about, where it is about one. */
  readonly node?: string;
  /** What becomes of the request; unset = it goes its way. */
  outcome?: Outcome;
}

/** What becomes of one request on its way. */
export type Outcome =
  /** Answered with this status and nothing done; as the Kubernetes API or as a proxy would. */
  | { readonly kind: 'answered'; readonly code: number; readonly byProxy?: boolean }
  /** No answer: the connection breaks, or a proxy gives up with `code`. Whether it lands is decided, and when. */
  | { readonly kind: 'lost'; readonly lands: false | { readonly afterMs: number }; readonly code?: 502 | 504 }
  /** Never answered, nor refused: who waits has to end it. */
  | { readonly kind: 'hangs'; readonly lands: boolean };

/** A running or dead controller, apiserver or agent. */
export interface Process {
  /** `controller-0`, `apiserver-2`, `agent-node-7`; `upstream-agent-node-3` for one of the older operator. */
  readonly name: string;
  readonly kind: 'controller' | 'apiserver' | 'agent';
  /** Of the agent's node, or of the node on which the pod runs. */
  readonly node?: string;
  readonly running: boolean;
  /** kill -9: nothing more is sent, no answer arrives, all memory is lost. What was sent may still land. */
  kill(): void;
  /** The same with its machine: who is connected to it, or connects to it, hears nothing at all. */
  vanish(): void;
  /** SIGTERM: it may do what it does then. */
  terminate(): void;
  /** SIGSTOP, or a machine that stalls: it does nothing and hears nothing until what is returned is called; its clocks go on. */
  freeze(): () => void;
  /** How far its wall clock is off from that of its machine; it may jump at any time. Its monotonic clock never does. */
  setClock(offMs: number): void;
}

/** The whole world of one run, as faults see it. */
export interface World {
  readonly now: Instant;
  readonly scenario: Scenario;
  readonly cluster: EmbeddedCluster;
  readonly environment: KubernetesEnvironment;
  readonly network: SimulatedNetwork;
  readonly processes: readonly Process[];
}

export interface Violation {
  readonly at: Instant;
  readonly invariant: string;
  readonly what: string;
}

/** What a run came to. */
export interface Outcomes {
  readonly violations: readonly Violation[];
  readonly history: readonly Entry[];
  /** How many faults of each kind began. */
  readonly faults: Readonly<Record<string, number>>;
  /** How many writes of each rule's moment there were, and how many of them a fault struck. */
  readonly moments: Readonly<Record<string, { readonly seen: number; readonly struck: number }>>;
  /** How long it has lasted. */
  readonly virtualMs: Instant;
}
