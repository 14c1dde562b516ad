/** ConfigMap with the configuration, in the operator's namespace. */
export const NOTIFICATIONS_CONFIG_MAP = 'brupop-notifications';
/** ConfigMap in which the controller records what it has sent. */
export const NOTIFICATIONS_STATE = 'brupop-notifications-state';
/** File of the ConfigMap, in the folder that the controller reads. */
export const NOTIFICATIONS_FILE = 'config.json';
/** Folder with the Secret of an Alertmanager. No target can have this name. */
export const silencerFolder = (name: string): string => `silences.${name}`;
/** Keys of a target's Secret, and its files in a folder of the target's name. */
export const SECRET_KEYS = ['url', 'headers', 'proxy', 'token'] as const;
