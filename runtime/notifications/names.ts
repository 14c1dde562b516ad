/** ConfigMap with what the props say, in the operator's namespace. */
export const NOTIFICATIONS_CONFIG_MAP = 'brupop-notifications';
/** ConfigMap in which the controller remembers what it has told. */
export const NOTIFICATIONS_STATE = 'brupop-notifications-state';
/** File of the ConfigMap, in the folder that the controller reads. */
export const NOTIFICATIONS_FILE = 'config.json';
/** Folder with the Secret of an Alertmanager. No target is called so. */
export const silencerFolder = (name: string): string => `silences.${name}`;
/** Keys of a target's Secret, and its files in a folder of the target's name. */
export const SECRET_KEYS = ['url', 'headers', 'proxy'] as const;
