import type { HostTransport } from '../../runtime/agent/hosts/bottlerocket/calls.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import type { Program } from './programs.ts';
import type { Process } from './types.ts';

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
