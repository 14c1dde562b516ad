import { GROUP } from '../shadow/names.ts';

/** The public names of the policy resource. Each one is part of a contract with existing installations: never change one. */

export const POLICY_KIND = 'BottlerocketUpdatePolicy';
export const POLICY_PLURAL = 'bottlerocketupdatepolicies';
export const POLICY_SINGULAR = 'bottlerocketupdatepolicy';
export const POLICY_SHORT_NAME = 'bup';
export const POLICY_VERSION = 'v1alpha1';
export const POLICY_API_VERSION = `${GROUP}/${POLICY_VERSION}`;
export const POLICY_CRD_NAME = `${POLICY_PLURAL}.${GROUP}`;
