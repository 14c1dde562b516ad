/** An agent whose token, pod and node have been checked against each other. */
export interface Agent {
  readonly nodeName: string;
  /** UID of the Node object, which tells it from a later one of the same name. */
  readonly nodeUid: string;
  /** Boot id of its host; null where it does not say, as older agents do. */
  readonly bootId: string | null;
}
