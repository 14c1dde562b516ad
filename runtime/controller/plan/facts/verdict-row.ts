/** What is known of a verdict besides its words. */
export interface Row {
  /** What ends it where nothing else happens: nothing need end it, its update does, other nodes, time, or a person. */
  readonly ends: 'done' | 'running' | 'others' | 'time' | 'person';
  /** Its place among what a person has to act on, 1 = first; undefined where nobody has to, or people have decided it so. */
  readonly urgency: number | undefined;
  /** What to do about it. Commands stand in backticks. */
  readonly remedy: string | undefined;
  /** The alert that calls somebody. Reasons may share one. */
  readonly alert: string | undefined;
  /** People are told by an Event and a notification of its name once it begins, as a statement of this kind. */
  readonly told: 'setback' | 'agent' | 'fleet' | undefined;
  /**
   * What the condition of its node says instead, where other nodes or time decide about a whole group alike. It is constant, and the same for what
   * comes and goes with each update: all that wait, thousands maybe, would be written again each time. The policy says the rest once.
   */
  readonly condition?: { readonly reason: string; readonly message: string };
  readonly is: readonly Quality[];
}

export type Quality =
  /** Its node is about to be updated, or is: warnings concern it. */
  | 'ahead'
  /** `kubectl brupop now` ends it, or it ends once a place is free. */
  | 'lifted'
  /** Its node has failed on the release that it runs or heads for. */
  | 'failure'
  /** It matters more than a refused write, which then stands behind it. */
  | 'outranking refusals'
  /** No agent is there that could act on its node. */
  | 'agentless';
