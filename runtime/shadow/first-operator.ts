import type { Spec, Status } from './model.ts';

/**
 * What the first operator, which knew no shadows, kept on its Nodes. Its controller and its agents took these for orders; ours never read
 * them back.
 */

const PREFIX = 'bottlerocket.aws';

export const ACTION_KEYS = [`${PREFIX}/action-wanted`, `${PREFIX}/action-active`, `${PREFIX}/action-state`] as const;
export const UPDATE_AVAILABLE_KEY = `${PREFIX}/update-available`;
/** The first operator has the name and never wrote it, so it says whose the other annotations are. */
export const OPERATOR_VERSION_KEY = `${PREFIX}/operator-version`;

export const FIRST_OPERATOR_KEYS = [...ACTION_KEYS, UPDATE_AVAILABLE_KEY, OPERATOR_VERSION_KEY] as const;
export type FirstOperatorKey = (typeof FIRST_OPERATOR_KEYS)[number];

/** The annotations of a Node that say in the first operator's words where its update is. @param operator our version */
export function mirrorOf(
  { spec, status }: { readonly spec: Spec; readonly status: Status | undefined },
  operator: string,
): Readonly<Record<FirstOperatorKey, string>> {
  const action = ACTIONS[spec.state];
  return {
    'bottlerocket.aws/action-wanted': action,
    'bottlerocket.aws/action-active': status ? action : 'unknown',
    'bottlerocket.aws/action-state': stateOf(spec, status),
    'bottlerocket.aws/update-available': status ? String(status.target_version !== status.current_version) : 'unknown',
    'bottlerocket.aws/operator-version': operator,
  };
}

const ACTIONS: Readonly<Record<Spec['state'], string>> = {
  Idle: 'stabilize',
  StagedAndPerformedUpdate: 'perform-update',
  RebootedIntoUpdate: 'reboot-update',
  MonitoringUpdate: 'stabilize',
  ErrorReset: 'stabilize',
};

function stateOf(spec: Spec, status: Status | undefined): string {
  if (!status) return 'unknown';
  if (status.current_state === 'ErrorReset') return 'error';
  return status.current_state === spec.state ? 'ready' : 'busy';
}
