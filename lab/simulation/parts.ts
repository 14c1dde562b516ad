import type { HostTransport } from '../../runtime/agent/hosts/bottlerocket/calls.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import type { Random } from '../../runtime/lib/random.ts';
import type { EmbeddedCluster } from '../sim/cluster/cluster.ts';
import type { TrueTime } from './clock.ts';
import type { Program } from './programs.ts';
import type { Entry, Environment, FaultKind, HostEntry, Invariant, Process, Scenario } from './types.ts';

/** How the parts of a simulation are put together: what each gets, and what it has to be. */

/** All that `run` needs besides the scenario. */
export interface Parts {
  readonly environment: CreateEnvironment;
  readonly faults: readonly FaultKind[];
  readonly invariants: readonly Invariant[];
  /** How long the calm lasts at most, milliseconds: as long as liveness needs. It ends before where every judge has what it waits for. */
  readonly calmMs: (scenario: Scenario) => number;
  /** Told of each entry when it is made. */
  readonly onEntry?: (entry: Entry) => void;
  /** Told of each line that a process logs. */
  readonly onLog?: (process: string, line: string) => void;
  /** Whether the run goes on after the first violation. @default false */
  readonly goesOn?: boolean;
}

export type CreateEnvironment = (terms: EnvironmentTerms) => SimulatedEnvironment;

export interface EnvironmentTerms {
  readonly scenario: Scenario;
  readonly cluster: EmbeddedCluster;
  readonly time: TrueTime;
  /** Its own, of the seed. */
  readonly random: Random;
  readonly containers: Containers;
  /** Told of each thing that happens to a host. */
  readonly onHost: (entry: HostEntry) => void;
}

/**
 * What surrounds the operator, its own pods included. It starts the operator's containers, hears of their end, and starts them anew as a kubelet
 * does; whoever else kills one only has it end.
 */
export interface SimulatedEnvironment extends Environment {
  /** Makes all that is there when the run begins. The namespace, the CRD, the accounts and their roles are there already. */
  begin(): Promise<void>;
  /** The storm is over: what still is wrong by the environment's own doing ends. Faults have been ended before. */
  calm(): void;
}

/** The operator's containers, as kubelets deal with them. */
export interface Containers {
  /** Starts a process of the container. One of its name that still runs is killed. */
  start(container: Container): Process;
}

export interface Container {
  /** Name of the process: `controller-0` and `-1`, `apiserver-0` to `-2`, `agent-<node>`. A pod that replaces another takes the lowest number that is free. */
  readonly process: string;
  readonly kind: Process['kind'];
  readonly node: string;
  /** Name of its pod. */
  readonly pod: string;
  /** How far the wall clock of its machine is off, milliseconds. */
  readonly offMs: () => number;
  /** What an agent has of its node; nothing else reaches the host. */
  readonly host?: HostAccess;
  /** What runs in place of the program of its kind. */
  readonly program?: Program;
  /** The process has ended, whoever ended it. Called once, within the step that ends it. */
  readonly onEnd: (how: ContainerEnd) => void;
}

export interface HostAccess {
  /** The way to the host's API that this container has: a mount, dead for ever once the host has made a new socket. */
  connect(clock: Clock): HostTransport;
  /** What /proc says. @throws BootIdError */
  bootId(): string;
  /** The projected token for the apiserver, as the kubelet has last written it. */
  token(): string;
}

export interface ContainerEnd {
  /** 137 after SIGKILL. */
  readonly exitCode: number;
  /** Of the termination log. */
  readonly message?: string;
}
