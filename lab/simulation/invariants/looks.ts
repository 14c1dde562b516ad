import type { Entry, Instant } from '../types.ts';
import type { NodeFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { leader, RETRIED_WITHIN, Standing } from './rest.ts';
import { NOTHING, type Rule } from './rule.ts';

/** So soon an agent at rest that nothing keeps from it has looked for updates, and so soon a verdict says what that came to, milliseconds. */
const [LOOKS_WITHIN, SAYS_WITHIN] = [900_000, 180_000];
/** How often it looks where nothing has changed, milliseconds. */
const LOOKED_AGAIN = 10_000;

/** What keeps an agent from its host, or from telling what it has found there. */
const OF_AGENTS =
  /^(host-(?!activated-by-hand|staged-by-hand|boot$|unmarked)|agent-|own-token|certificate|no-token|status-|upstream|machine-|disown)/;
const OF_VERDICTS = /^status-/;

/** What looks for updates come to. B6: no host of a node at rest stays activated. B10: who cannot look is not said to be up to date. */
export const looks: Rule = {
  name: 'looks',
  begin(picture) {
    const activated = new Standing(LOOKS_WITHIN);
    const blind = new Standing(picture.terms.checkFailedAfterMs + SAYS_WITHIN);
    const [agents, verdicts] = [new Kept(OF_AGENTS), new Kept(OF_VERDICTS)];
    const leads = leader(picture);
    let [known, lookedAt] = [-1, -Infinity];
    const late = (now: Instant): readonly string[] => [...activated.late(now), ...blind.late(now)];
    return {
      see(entry) {
        const { kind, at } = entry;
        for (const kept of [agents, verdicts]) kept.see(entry);
        const isDue = picture.standing !== known || at >= lookedAt + LOOKED_AGAIN;
        if ((kind !== 'write' && kind !== 'fault' && kind !== 'host') || !isDue) return NOTHING;
        [known, lookedAt] = [picture.standing, at];
        const [isClear, isLed] = [picture.sight.isClear(at), leads(entry)];
        const all = [...picture.nodes.values()].map(({ facts }) => facts);
        const armed = isClear ? all.filter((one) => isActivated(picture, one) && !agents.has(one.name, at)) : [];
        activated.note(
          armed.map(({ name }) => `${name} is at rest, and its host is to boot something else`),
          at,
        );
        const unseeing = isLed ? all.filter((one) => isBlind(picture, one) && !verdicts.has(one.name, at)) : [];
        blind.note(
          unseeing.map(({ name }) => `${name} cannot look for updates, and is said to be up to date`),
          at,
        );
        return late(at);
      },
      isMet: () => activated.isOver && blind.isOver,
      end: late,
    };
  },
};

/** Whom faults of some kinds are about; where no node is named, all. */
class Kept {
  readonly #kinds: RegExp;
  readonly #active = new Map<number, string>();
  readonly #endedAt = new Map<string, Instant>();

  constructor(kinds: RegExp) {
    this.#kinds = kinds;
  }

  see(entry: Entry): void {
    if (entry.kind !== 'fault' || !this.#kinds.test(entry.name)) return;
    const { id, about, phase, at } = entry;
    if (phase === 'begins') this.#active.set(id, about);
    else this.#active.delete(id);
    this.#endedAt.set(about, at);
  }

  has(node: string, now: Instant): boolean {
    const isAbout = (about: string): boolean => (about.match(/node-\d+/g) ?? [node]).includes(node);
    return (
      [...this.#active.values()].some(isAbout) ||
      [...this.#endedAt].some(([about, at]) => now - at < RETRIED_WITHIN && isAbout(about))
    );
  }
}

/** At rest, with an agent that could see to it: what is activated would be booted by chance. */
function isActivated(picture: Picture, facts: NodeFacts): boolean {
  if (picture.hosts.get(facts.name)?.isActivated !== true) return false;
  const { active = true, status } = picture.shadowOf(facts) ?? {};
  return status !== undefined && !active && picture.processes.get(`agent-${facts.name}`)?.runs === true;
}

function isBlind(picture: Picture, facts: NodeFacts): boolean {
  const { status, verdict } = picture.shadowOf(facts) ?? {};
  return status?.cannotLookSince !== undefined && verdict?.reason === 'UpToDate';
}
