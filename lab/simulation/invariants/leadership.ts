import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Entry, Instant, RequestEntry } from '../types.ts';
import { at, isController, isOperator, LEASE, leaseFacts, shadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Span, type Write } from './rule.ts';

/** How long a process may lead after it sent the last renewal that took effect, milliseconds. Others take over later. */
const TERM_MS = 10_000;
/** How late it may notice that its term is over, also when it goes on after it stood still, milliseconds. */
const NOTICES_WITHIN = 1_000;

/** One run of a controller: the next one in its place knows nothing of its terms. */
interface Run {
  readonly process: string;
  /** One after the other. */
  readonly terms: Span[];
}

/** When which run of a controller has led, by what landed on the Lease. */
class Reigns {
  readonly #picture: Picture;
  readonly #runs = new Map<string, Run>();
  /** The run that has first written a name as that of the holder. */
  readonly #owners = new Map<string, Run>();
  /** By fault, when a process came to stand still. */
  readonly #frozenAt = new Map<number, Instant>();

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  /** The run that sent something, which may land when the next one runs. */
  runOf(process: string, sentAt: Instant): Run {
    const key = `${process}, begun at ${this.#picture.beginnings.of(process, sentAt)}`;
    return getOrInsert(this.#runs, key, () => ({ process, terms: [] }));
  }

  ownerOf(holder: string): Run | undefined {
    return this.#owners.get(holder);
  }

  /** Whether the process may have led when it sent something. */
  led(process: string, sentAt: Instant): boolean {
    return this.runOf(process, sentAt).terms.some(({ from, to }) => from <= sentAt && sentAt <= to);
  }

  /** A controller has written the Lease. */
  written({ by, sentAt, before, after }: Write): void {
    const run = this.runOf(by, sentAt);
    const [last, made] = [holderIn(before), holderIn(after)];
    if (made !== '' && made !== last && !this.#owners.has(made)) this.#owners.set(made, run);
    const isRenewed = after && renewTime(after) !== (before && renewTime(before));
    if (isRenewed && this.ownerOf(made) === run) renew(run, sentAt);
    if (made === '' && this.ownerOf(last) === run) giveBack(run, sentAt);
  }

  /** A process that goes on after it stood still believes that it leads, and learns at once that its term is over. */
  see(entry: Entry): void {
    if (entry.kind !== 'fault' || !entry.name.startsWith('freeze')) return;
    if (entry.phase === 'begins') this.#frozenAt.set(entry.id, entry.at);
    else this.#goesOn(entry.about, this.#frozenAt.get(entry.id) ?? entry.at, entry.at);
  }

  #goesOn(process: string, frozenAt: Instant, now: Instant): void {
    const last = this.runOf(process, now).terms.at(-1);
    if (last && frozenAt <= last.to) last.to = Math.max(last.to, now + NOTICES_WITHIN);
  }
}

const holderIn = (lease: Write['after']): string => (lease ? leaseFacts(lease).holder : '');
const renewTime = (lease: KubeObject): unknown => at(lease, 'spec', 'renewTime');

function renew({ terms }: Run, sentAt: Instant): void {
  const last = terms.at(-1);
  const to = sentAt + TERM_MS + NOTICES_WITHIN;
  if (last && sentAt <= last.to) last.to = Math.max(last.to, to);
  else terms.push({ from: sentAt, to });
}

function giveBack({ terms }: Run, sentAt: Instant): void {
  const last = terms.at(-1);
  if (last) last.to = Math.min(last.to, sentAt);
}

/** The ConfigMap in which leaders remember what was told, and how long one waits that finds another's name there, milliseconds. */
const MEMORY = 'brupop-notifications-state';
const WAITS_MS = 15_000;

/** What no controller writes but the one that leads. */
const LED = new Set(['bottlerocketshadows', 'nodes', 'bottlerocketupdatepolicies']);

/**
 * L5: the leader is the process that has written itself into the Lease, under a name that is new for each start. For as long as its term lasts, it
 * alone changes permits, and whatever else controllers write. Controllers alone write spec.
 */
export const leadership: Rule = {
  name: 'leadership',
  begin(picture) {
    const reigns = new Reigns(picture);
    const memory = new SeenMemory(picture);
    return {
      see(entry) {
        reigns.see(entry);
        if (entry.kind === 'request') memory.asked(entry);
        if (entry.kind !== 'write' || !isOperator(entry.by)) return NOTHING;
        if (!isController(entry.by)) return foreignSpec(entry);
        if (entry.name === MEMORY) return memory.written(entry);
        if (entry.resource !== 'leases') return LED.has(entry.resource) ? powerless(entry, reigns) : NOTHING;
        if (entry.name !== LEASE) return NOTHING;
        reigns.written(entry);
        const breaches = foreignList(entry, reigns);
        return breaches.length > 0 ? breaches : usurped(entry, reigns);
      },
    };
  },
};

function foreignSpec({ by, resource, name, before, after }: Write): readonly string[] {
  if (resource !== 'bottlerocketshadows' || !after) return NOTHING;
  const [old, made] = [before && shadowFacts(before), shadowFacts(after)];
  const isSame = old ? old.state === made.state && old.version === made.version : made.state === 'Idle';
  return isSame ? NOTHING : [`${by} wrote the spec of ${name}`];
}

/** L10: who finds another's name where it remembers what was told waits until it must know that it leads no more. */
class SeenMemory {
  readonly #beginnings: Picture['beginnings'];
  /** When each has looked since the name there last changed. */
  readonly #looks = new Map<string, Instant[]>();

  constructor({ beginnings }: Picture) {
    this.#beginnings = beginnings;
  }

  asked({ by, at: now, verb, name, code }: Extract<Entry, RequestEntry>): void {
    if (verb === 'get' && name === MEMORY && code < 400) getOrInsert(this.#looks, by, () => []).push(now);
  }

  written({ by, sentAt, before, after }: Write): readonly string[] {
    const isNew = (key: string): boolean => at(before, 'data', key) !== at(after, 'data', key);
    if (!isNew('leader')) return NOTHING;
    const isBreach = before && isNew('state.json') && !this.#hasWaited(by, sentAt);
    this.#looks.clear();
    return isBreach ? [`${by} writes over what another leader remembers`] : NOTHING;
  }

  /** It may have looked again since it sent this. */
  #hasWaited(by: string, sentAt: Instant): boolean {
    const last = this.#looks.get(by)?.findLast((look) => look <= sentAt) ?? -Infinity;
    return last >= this.#beginnings.of(by, sentAt) && sentAt - last >= WAITS_MS;
  }
}

/** What it sent while it led may land later. */
function powerless({ by, sentAt, resource, name, after }: Write, reigns: Reigns): readonly string[] {
  return reigns.led(by, sentAt)
    ? NOTHING
    : [`${by} ${after ? 'wrote' : 'deleted'} ${resource} ${name} and did not lead`];
}

/** What an earlier process has sent may still land. */
function usurped({ by, sentAt, after }: Write, reigns: Reigns): readonly string[] {
  const owner = reigns.ownerOf(holderIn(after));
  if (!owner || owner === reigns.runOf(by, sentAt)) return NOTHING;
  const whose = owner.process === by ? 'an earlier process' : owner.process;
  return [`${by} holds the Lease under the name of ${whose}`];
}

const NO_LEASE = { holder: '', permitsText: '[]' };

function foreignList({ by, sentAt, before, after }: Write, reigns: Reigns): readonly string[] {
  const [old, made] = [before ? leaseFacts(before) : NO_LEASE, after ? leaseFacts(after) : NO_LEASE];
  if (old.permitsText === made.permitsText) return NOTHING;
  if (made.holder !== old.holder && made.holder !== '') return [`${by} took the Lease over and changed the permits`];
  if (reigns.ownerOf(made.holder) !== reigns.runOf(by, sentAt))
    return [`${by} changed the permits under the Lease of ${made.holder || 'nobody'}`];
  return reigns.led(by, sentAt) ? NOTHING : [`${by} changed the permits and did not lead`];
}

/** Who has first written itself into the Lease under a name, and when. */
interface Holder {
  readonly process: string;
  readonly since: Instant;
}

/**
 * A leader keeps the Lease for as long as it runs, where nothing but an API server that turns away a share of what it is asked is in the way: each
 * term that is lost begins everything anew.
 */
export const kept: Rule = {
  name: 'kept',
  begin(picture) {
    const holders = new Map<string, Holder>();
    return ofWrites('leases', (write) => {
      if (write.name !== LEASE || !isController(write.by)) return NOTHING;
      const [last, made] = [holderIn(write.before), holderIn(write.after)];
      if (made === '' || made === last) return NOTHING;
      if (!holders.has(made)) holders.set(made, { process: write.by, since: write.at });
      const lost = holders.get(last);
      const isBreach = lost && picture.sight.isClear(write.at) && hasRun(picture, lost);
      return isBreach ? [`${write.by} took the Lease over from ${lost.process}, which runs`] : NOTHING;
    });
  },
};

/** The next start in its place is another run. */
function hasRun({ processes }: Picture, { process, since }: Holder): boolean {
  const run = processes.get(process);
  return run !== undefined && run.runs && run.since < since;
}
