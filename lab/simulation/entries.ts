import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { Instant } from './types.ts';

/** What happened, in the order in which it did. Judged, and printed as the timeline. */
export type Entry = { readonly at: Instant } & Happening;

export type Happening =
  | WriteEntry
  | RequestEntry
  | SentEntry
  | AskedEntry
  | HostEntry
  | {
      readonly kind: 'fault';
      readonly id: number;
      readonly name: string;
      readonly about: string;
      readonly phase: 'begins' | 'ends';
    }
  | {
      readonly kind: 'process';
      readonly process: string;
      readonly event: 'starts' | 'killed' | 'terminated' | 'ended' | 'failed';
      readonly why?: string;
    }
  /** The storm is over: nothing goes wrong any more, and everybody who was kept back is let go. */
  | { readonly kind: 'calm' };

/** An object changed in the store. */
export interface WriteEntry {
  readonly kind: 'write';
  /** `controller-0`, ..., or whom of the environment: `kubelet node-1`, `person`, `kube-controller-manager`. */
  readonly by: string;
  /** When it was sent: a write may have been under way. */
  readonly sentAt: Instant;
  /** The resourceVersion that its request carried; undefined where it carried none. */
  readonly version?: string | undefined;
  /** Plural, e.g. `nodes`, `pods`, `leases`, `bottlerocketshadows`. */
  readonly resource: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
  /** In the storage version; undefined = there was none. */
  readonly before?: KubeObject | undefined;
  /** Undefined = it is gone. */
  readonly after?: KubeObject | undefined;
}

/** A request of an operator's process to the Kubernetes API, when it was answered. Watches count when they begin. */
export interface RequestEntry {
  readonly kind: 'request';
  readonly by: string;
  readonly verb: string;
  readonly resource: string;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
  readonly code: number;
  /** The resourceVersion that it carried; undefined where it carried none. */
  readonly version?: string | undefined;
  /** Whether it changed nothing, though it was to: its body says more than of which object. */
  readonly isVain: boolean;
}

/** Requests of an operator's process, when they were sent: some are never answered. Told by the ten. */
export interface SentEntry {
  readonly kind: 'sent';
  readonly by: string;
  readonly to: 'api' | 'apiserver';
  /** Which they name: itself, its shadow, or a pod that is there; that of the agent where it asks an apiserver. */
  readonly node: string | undefined;
  /** Whether it is about pods there. */
  readonly ofPods: boolean;
  readonly count: number;
}

/** An agent's request has come to an apiserver, whatever that makes of it. */
export interface AskedEntry {
  readonly kind: 'asked';
  /** The agent; `node` is where it runs, whatever its request says. */
  readonly by: string;
  readonly node: string;
  readonly to: string;
  readonly path: string;
  /** As it was sent: of a status, JSON. */
  readonly body: string | undefined;
  /** The resourceVersion of the shadow on which the agent acted; undefined where it does not say that. */
  readonly acted: string | undefined;
}

export interface HostEntry {
  readonly kind: 'host';
  readonly node: string;
  readonly event:
    | { readonly kind: 'up'; readonly bootId: string; readonly version: string }
    /** `asked`: somebody had asked its API for a reboot. */
    | { readonly kind: 'down'; readonly asked: boolean }
    /** It says something else of the version that it is to run. `boot`: it has forgotten, or is another machine. */
    | {
        readonly kind: 'settings';
        readonly by: 'agent' | 'hand' | 'boot';
        readonly lock: string;
        readonly ignoresWaves: boolean;
      }
    /** It is to boot another image than it runs, or is not any more. */
    | { readonly kind: 'activation'; readonly on: boolean }
    | { readonly kind: 'call'; readonly method: string; readonly path: string; readonly status: number | 'none' };
}
