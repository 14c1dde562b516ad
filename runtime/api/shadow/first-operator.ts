import type { Spec, Status } from './model.ts';

/**
 * The annotations in which the first operator, which had no shadows, kept its state on Nodes. Its controller and its agents obeyed them. Ours only
 * write them.
 */

const PREFIX = 'bottlerocket.aws';

export const ACTION_KEYS = [`${PREFIX}/action-wanted`, `${PREFIX}/action-active`, `${PREFIX}/action-state`] as const;
export const UPDATE_AVAILABLE_KEY = `${PREFIX}/update-available`;
/** The first operator defines this name and never wrote it. So where it stands, the other annotations are ours. */
export const OPERATOR_VERSION_KEY = `${PREFIX}/operator-version`;

export const FIRST_OPERATOR_KEYS = [...ACTION_KEYS, UPDATE_AVAILABLE_KEY, OPERATOR_VERSION_KEY] as const;
type FirstOperatorKey = (typeof FIRST_OPERATOR_KEYS)[number];

/** The first operator's annotations for a node whose update is there. @param operator our version */
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
