/** Drivers of hosts that offer versions by themselves. */
export const DRIVERS = ['api', 'updog'] as const;
export type DriverName = (typeof DRIVERS)[number];
/** Of hosts that are told which version to run, and offer none. */
export const TOLD_DRIVERS = ['k3os'] as const;
export type AnyDriverName = DriverName | (typeof TOLD_DRIVERS)[number];

/** What an action of the host's API is for a host of interface 1.0.0. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'refresh-updates': 'updog check-update',
  'prepare-update': 'updog update-image',
  'activate-update': 'updog update-apply',
  'deactivate-update': 'signpost clear-inactive',
  reboot: 'shutdown -r',
};

/** Under which name a host counts what it is asked for an action. */
export function requestOf(driver: AnyDriverName, action: string): string {
  if (driver === 'k3os') return 'k3os ops';
  return driver === 'updog' ? (PROGRAMS[action] ?? '') : `POST /actions/${action}`;
}
