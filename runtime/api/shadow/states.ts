/** The states of an update in order; `ErrorReset` leads back to `Idle`. The controller writes the wanted state, the agent the reached one. */
export const STATES = [
  'Idle',
  'StagedAndPerformedUpdate',
  'RebootedIntoUpdate',
  'MonitoringUpdate',
  'ErrorReset',
] as const;
export type State = (typeof STATES)[number];

/** The states of v1 objects, which only old clients still read and write. */
export const STATES_V1 = ['Idle', 'StagedUpdate', 'PerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate'] as const;
type StateV1 = (typeof STATES_V1)[number];

const NEXT: Readonly<Record<State, State>> = {
  Idle: 'StagedAndPerformedUpdate',
  StagedAndPerformedUpdate: 'RebootedIntoUpdate',
  RebootedIntoUpdate: 'MonitoringUpdate',
  MonitoringUpdate: 'Idle',
  ErrorReset: 'Idle',
};

/** The state that follows once `state` is reached. */
export function nextState(state: State): State {
  return NEXT[state];
}

const FROM_V1: Readonly<Record<StateV1, State>> = {
  Idle: 'Idle',
  StagedUpdate: 'StagedAndPerformedUpdate',
  PerformedUpdate: 'StagedAndPerformedUpdate',
  RebootedIntoUpdate: 'RebootedIntoUpdate',
  MonitoringUpdate: 'MonitoringUpdate',
};

const TO_V1: Readonly<Record<State, StateV1>> = {
  Idle: 'Idle',
  StagedAndPerformedUpdate: 'StagedUpdate',
  RebootedIntoUpdate: 'RebootedIntoUpdate',
  MonitoringUpdate: 'MonitoringUpdate',
  ErrorReset: 'MonitoringUpdate',
};

export const stateFromV1 = (state: StateV1): State => FROM_V1[state];
export const stateToV1 = (state: State): StateV1 => TO_V1[state];
