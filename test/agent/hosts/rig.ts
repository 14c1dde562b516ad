import { Bottlerocket } from '../../../runtime/agent/hosts/bottlerocket/bottlerocket.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { type HostOptions, SimulatedHost } from '../../../lab/sim/hosts/host.ts';
import { Releases } from '../../../lab/sim/hosts/releases.ts';
import { InProcessHostTransport } from '../../../lab/sim/hosts/transport.ts';
import { seeded } from '../../random.ts';

export interface RigOptions extends Partial<HostOptions> {
  /** @see InProcessOptions */
  readonly pinned?: boolean;
}

/** A host on 1.38.0 that is offered 1.39.0, and a driver for it, on a virtual clock. */
export function rig({ pinned = false, ...options }: RigOptions = {}) {
  const clock = new VirtualClock();
  const random = seeded(1);
  const releases = options.releases ?? new Releases(['1.37.0', '1.38.0', '1.39.0']);
  const host = new SimulatedHost({ clock, random, version: '1.38.0', ...options, releases });
  const life = new AbortController();
  host.start(life.signal);
  const transport = new InProcessHostTransport({ host, clock, pinned });
  const readBootId = (): Promise<string> => Promise.resolve(host.boot?.id ?? '');
  const driver = new Bottlerocket({ transport, clock, random, readBootId });

  return {
    clock,
    host,
    releases,
    driver,
    transport,
    /** One call of the host's API, e.g. `call('GET /os')`: status and body. */
    call: async (line: string, body?: string): Promise<string> => {
      const [method = '', path = ''] = line.split(' ');
      const answer = await host.handle({ method, path, body });
      return answer.kind === 'answer' ? `${answer.status} ${answer.body}`.trim() : answer.kind;
    },
    /** Lets virtual time pass, half an hour at most, until the work is done. */
    finish: <T>(work: Promise<T>): Promise<T> => clock.advanceUntil(work, 1800_000),
    /** As `finish`; returns how many milliseconds the work took. */
    timed: async (work: Promise<unknown>): Promise<number> => {
      const start = clock.monotonic();
      await clock.advanceUntil(work, 1800_000);
      return clock.monotonic() - start;
    },
  };
}
