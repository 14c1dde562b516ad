import type { Clock } from '../../../runtime/lib/clock.ts';
import type { EmbeddedCluster } from '../../../sim/cluster/cluster.ts';
import type { SimulatedHost } from '../../../sim/hosts/host.ts';
import type { Entry, Environment, Scenario } from '../types.ts';

/** What an environment is made of. It acts on the cluster under names of its own: `kubelet node-1`, `person`, `kube-controller-manager`. */
export interface EnvironmentOptions {
  readonly scenario: Scenario;
  /** True time: its wall clock is right, and its monotonic clock counts from the beginning of the run. */
  readonly clock: Clock;
  readonly cluster: EmbeddedCluster;
  readonly agents: AgentProcesses;
  /** Told of what happens to hosts, in the order in which it does. */
  readonly onEntry: (entry: Entry) => void;
  /** Told of what must not happen in a simulation: a mistake in it. */
  readonly onFailure: (error: unknown) => void;
  /** Ends all of it. */
  readonly signal: AbortSignal;
}

/** How kubelets start and stop agents. At most one runs on a node. */
export interface AgentProcesses {
  /** A container has started. Whatever ends it but `stops` is told by `agentEnded`, and the kubelet starts it again in its own time. */
  starts(container: AgentContainer): void;
  /** `killed`: gone at once, as where the host goes down. `terminated`: told to end; killed later where it has not. */
  stops(node: string, how: 'killed' | 'terminated'): void;
}

/** The container of an agent, as its process finds it. */
export interface AgentContainer {
  readonly node: string;
  readonly podName: string;
  readonly podUid: string;
  /** `upstream-agent`: that of the older operator, which `upstreamAgent` plays. */
  readonly program: 'agent' | 'upstream-agent';
  readonly host: SimulatedHost;
  /** Of the machine: its wall clock may be wrong, and jump. */
  readonly clock: Clock;
  /** What the file with the projected token holds at present: the kubelet renews it. */
  token(): Promise<string>;
}

/** The environment as the run sees it: what it wires, beside what faults may do. */
export interface RunningEnvironment extends Environment {
  /** Sets the cluster up as it is at the beginning: definitions, accounts, Nodes, workloads. Then hosts boot, and kubelets work. */
  begin(): Promise<void>;
  /** An agent's process has ended by itself, or somebody has killed it: its container is over. */
  agentEnded(node: string, podUid: string): void;
}
