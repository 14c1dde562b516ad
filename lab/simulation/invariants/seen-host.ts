import type { Entry, HostEntry, Instant } from '../types.ts';

/** Whatever machines have borne a name, and what the history tells of them. */
export class SeenHost {
  up = false;
  version = '';
  /** Whether the host went down because its API was asked for that; of no meaning while it is up. */
  asked = false;
  /** When its API was asked to reboot in this boot; undefined = never. */
  askedAt: Instant | undefined;
  /** How often it has booted since it last did so because its API was asked. */
  unaskedBoots = 0;
  readonly boots = new Set<string>();
  readonly versions = new Set<string>();
  /** What its API was asked since the last start of an update and has not refused. */
  calls = new Set<string>();
  /** Whether it has gone down since then as its API was asked to, or with an update activated: whatever made it go down, the boot loader tries that. */
  downForUpdate = false;
  /** It is to boot another image, as its partition table says. */
  isActivated = false;
  #activated = false;

  see({ event, at }: Extract<Entry, HostEntry>): void {
    if (event.kind === 'up') {
      this.up = true;
      this.version = event.version;
      this.boots.add(event.bootId);
      this.versions.add(event.version);
      this.askedAt = undefined;
      this.#activated = false;
      this.isActivated = false;
    } else if (event.kind === 'down') this.#wentDown(event.asked, at);
    else if (event.kind === 'activation') this.isActivated = event.on;
    else if (event.kind === 'call' && isTaken(event)) this.#told(event.path, at);
  }

  #wentDown(asked: boolean, at: Instant): void {
    this.up = false;
    this.asked = asked;
    this.unaskedBoots = asked ? 0 : this.unaskedBoots + 1;
    if (asked) this.askedAt ??= at;
    this.downForUpdate ||= asked || this.#activated;
  }

  #told(path: string, at: Instant): void {
    this.calls.add(path);
    if (path === '/actions/reboot') this.askedAt ??= at;
    if (path === '/actions/activate-update') this.#activated = true;
    else if (path === '/actions/deactivate-update' || path === '/actions/prepare-update') this.#activated = false;
  }

  /** An update starts on its node. */
  begin(): void {
    this.calls = new Set();
    this.downForUpdate = false;
  }
}

/** Something that the host was told to do, and may do. */
export function isTaken({ method, status }: Extract<HostEntry['event'], { kind: 'call' }>): boolean {
  return method === 'POST' && (status === 'none' || status < 300);
}

export const isReboot = (event: HostEntry['event']): boolean =>
  event.kind === 'call' && event.path === '/actions/reboot' && isTaken(event);
