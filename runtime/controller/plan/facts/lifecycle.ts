/** One of Kubernetes' lifecycle conditions as it stands on a Node, whoever wrote it. */
export interface LifecycleCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | null | undefined;
}
