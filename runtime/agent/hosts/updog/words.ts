import { jsonObject } from '../../../lib/json.ts';
import { HostProtocolError } from '../errors.ts';
import { osReleaseField } from '../os-release.ts';
import type { Image, OsInfo } from '../port.ts';
import type { Ended } from '../programs.ts';

/** What the host's programs say, by their outputs and exit statuses. */

/**
 * The update in the output of `updog check-update --json`; undefined where there is none. The exit status does not tell, because it is 1 without an
 * update, and in the first versions 0 with an empty output.
 * @throws HostProtocolError where the output says neither
 */
export function offerIn({ exit, stdout, stderr }: Ended): Image | undefined {
  if (isNothing(stderr) || (exit === 0 && stdout.trim() === '')) return undefined;
  // Lines of its log may stand before.
  const body = /^\{[^]*^\}/m.exec(stdout)?.[0];
  const { variant, arch, version } = jsonObject(body);
  if (isText(variant) && isText(arch) && isText(version)) return { variant, arch, version };
  throw new HostProtocolError(`updog check-update: expected an update, got ${JSON.stringify(stdout.slice(0, 100))}`);
}

/** Whether `updog check-update` has failed only because there is nothing to update to, now or in a later wave. */
export function isNothing(stderr: string): boolean {
  return /^(No update available|Update \S+ exists but wave in the future)\b/m.test(stderr);
}

/**
 * The version that `updog update-image` has written or begun to write. Null where it found no version, which it reports as a success. Undefined
 * where the output does not say.
 */
export function choiceIn({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>): string | null | undefined {
  const version = /^Starting update to (\S+)$/m.exec(stderr)?.[1] ?? /^Update applied: \S+ (\S+)$/m.exec(stdout)?.[1];
  if (version !== undefined) return version;
  return /^(No update required|Update available in later wave)\b/m.test(stderr) ? null : undefined;
}

/** The state of the partition set that does not run, from the partition table. */
type OtherSet =
  /** Empty, half written, or a system that has run before. */
  | 'other'
  /** An image was written whole, and has not been booted. */
  | 'written'
  /** That image boots next. */
  | 'activated';

/** The output of `signpost status`. @throws HostProtocolError */
export function otherSetIn({ stdout }: Ended): OtherSet {
  const active = /^Active: +Set ([AB])$/m.exec(stdout)?.[1];
  const sets = [...stdout.matchAll(/^Set ([AB]):.* priority=(\d+) tries_left=(\d+) successful=(true|false)$/gm)];
  const other = sets.find(([, name]) => name !== active);
  if (active === undefined || sets.length !== 2 || !other)
    throw new HostProtocolError(`signpost status: expected two sets, got ${JSON.stringify(stdout.slice(0, 100))}`);
  const [, , priority, triesLeft, successful] = other;
  // The one that ran before may have the greater priority until the host has declared its boot a success. It must not be touched.
  if (successful === 'true' || Number(triesLeft) === 0) return 'other';
  return Number(priority) > 0 ? 'activated' : 'written';
}

/** The text of os-release(5). @param arch as Node has it @throws HostProtocolError naming the field that is missing */
export function osIn(text: string, arch: NodeJS.Architecture): OsInfo {
  const [version, variant] = [osReleaseField(text, 'VERSION_ID'), osReleaseField(text, 'VARIANT_ID')];
  return { version, variant, arch: ARCHITECTURES[arch] ?? arch };
}

const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'x86_64', arm64: 'aarch64' };

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
