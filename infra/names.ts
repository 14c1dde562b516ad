import {
  AGENT_SERVICE_ACCOUNT,
  APISERVER_SERVICE_ACCOUNT,
  CONTROLLER_SERVICE_ACCOUNT,
} from '../runtime/api/shadow/names.ts';
import type { Component } from './labels.ts';

/** Names of objects that no process needs to know. Existing installations have them, so they do not change. */

export const DAEMON_SET = 'brupop-agent';
export const UPDOG_DAEMON_SET = 'brupop-agent-updog';
export const K3OS_DAEMON_SET = 'brupop-agent-k3os';
export const APISERVER_DEPLOYMENT = 'brupop-apiserver';

export const HIGH_PRIORITY = 'brupop-controller-high-priority';
export const AGENT_PRIORITY = 'brupop-agent-priority';

export const SELF_SIGNED_ISSUER = 'selfsigned-issuer';
export const CA_ISSUER = 'brupop-root-certificate-issuer';
export const CA_CERTIFICATE = 'brupop-selfsigned-ca';
export const CA_SECRET = 'brupop-root-ca-secret';
export const SERVER_CERTIFICATE = 'brupop-apiserver-certificate';
export const CLIENT_CERTIFICATE = 'brupop-apiserver-client-certificate';

export const SERVICE_ACCOUNTS: Readonly<Record<Component, string>> = {
  agent: AGENT_SERVICE_ACCOUNT,
  apiserver: APISERVER_SERVICE_ACCOUNT,
  controller: CONTROLLER_SERVICE_ACCOUNT,
};

export const AUTH_DELEGATOR_BINDING = 'brupop-apiserver-auth-delegator-role-binding';

/** Name of the controller's Role where UpdateChannels live. */
export const CHANNELS_ROLE = 'brupop-controller-channels-role';

/** Name of a component's ClusterRole and of its Role in the operator's namespace. */
export function roleName(component: Component): string {
  return `brupop-${component}-role`;
}
