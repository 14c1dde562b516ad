import type { Pod } from '../../../../runtime/kube/objects.ts';

/** What happens on a node when its pods come and go: here a simulation starts and ends the processes that pods stand for. */
export interface KubeletHooks {
  /**
   * A pod's containers start; they count as running, and ready, once this resolves. Rejecting, or calling `exited` later, means that
   * they ended by themselves: they are started again, after a longer wait each time. The code is the processes' exit code, 0 if absent.
   * From then until they end, `ready` says when they are no longer ready, and when they are again.
   */
  onPodStart?(pod: Pod, exited: (code?: number) => void, ready: (is: boolean) => void): void | Promise<void>;
  /** A pod's containers end, whether their start has resolved or not: the pod was deleted, or the node goes down. */
  onPodStop?(pod: Pod): void | Promise<void>;
}
