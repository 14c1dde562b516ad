/** The ConfigMap in which the controller remembers what was trusted of repositories. Part of a contract with existing installations. */
export const REPOSITORIES_STATE = 'brupop-repositories-state';
