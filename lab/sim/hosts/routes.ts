import { DONE, DROPPED, type HostAnswer, type HostCall, json, NO_SUCH_CALL, text } from './answer.ts';
import type { Faults } from './faults.ts';
import type { Machine } from './machine.ts';
import type { HostSettings, SettingsCall } from './settings.ts';
import type { Updater } from './updater.ts';

/** What the host's API acts on. */
export interface Served {
  readonly updater: Updater;
  /** Aborts when the API server ends, or the host below it. */
  readonly signal: AbortSignal;
  readonly machine: Machine;
  readonly settings: HostSettings;
  readonly faults: Faults;
  readonly version: string;
  readonly variant: string;
  readonly arch: string;
}

const ROUTES: Readonly<Record<string, (served: Served, call: SettingsCall) => HostAnswer>> = {
  'GET /os': ({ version, variant, arch }) =>
    json({
      arch,
      build_id: '4f1c02f8',
      pretty_name: `Bottlerocket OS ${version} (${variant})`,
      variant_id: variant,
      version_id: version,
    }),
  'GET /updates/status': ({ updater }) => updater.status(),
  'POST /actions/refresh-updates': ({ updater, signal }) => updater.start('refresh', signal),
  'POST /actions/prepare-update': ({ updater, signal }) => updater.start('prepare', signal),
  'POST /actions/activate-update': ({ updater, signal }) => updater.start('activate', signal),
  'POST /actions/deactivate-update': ({ updater, signal }) => updater.start('deactivate', signal),
  'POST /actions/reboot': reboot,
  'GET /settings': ({ settings }, call) => settings.get(call),
  'PATCH /settings': ({ settings }, call) => settings.patch(call),
  'GET /tx': ({ settings }, call) => settings.pending(call),
  'GET /tx/list': ({ settings }) => settings.transactions(),
  'DELETE /tx': ({ settings }, call) => settings.drop(call),
  'POST /tx/commit': ({ settings }, call) => settings.commit(call),
  'POST /tx/apply': ({ settings }, call) => settings.apply(call),
  'POST /tx/commit_and_apply': ({ settings }, call) => settings.commitAndApply(call),
};

/** Answers one call of the host's API. */
export function route(served: Served, { method, path, body = '' }: HostCall): HostAnswer {
  const [pathname, search] = path.split('?', 2);
  const name = `${method} ${pathname}`;
  if (!Object.hasOwn(ROUTES, name)) return NO_SUCH_CALL;
  const { signal } = served;
  return ROUTES[name]?.(served, { query: new URLSearchParams(search), body, signal }) ?? NO_SUCH_CALL;
}

function reboot({ machine, faults }: Served): HostAnswer {
  if (faults.strikes('reboot-500')) {
    return text(500, 'Failed to reboot, exit code: 1, stderr: Call to Reboot failed: Access denied');
  }
  if (faults.strikes('reboot-ignored')) return DONE;
  machine.reboot();
  return faults.strikes('reboot-dropped') ? DROPPED : DONE;
}
