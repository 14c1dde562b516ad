import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { HostEntry, Instant } from '../types.ts';
import { shadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { isReboot, isTaken } from './seen-host.ts';
import type { Sight } from './sight.ts';

/** What disturbs a host, or changes what is on its disk. */
const ACTIONS: ReadonlySet<string> = new Set(
  ['prepare-update', 'activate-update', 'reboot'].map((one) => `/actions/${one}`),
);

/**
 * B3, B4: an agent has its host do only what a shadow of its own Node says, and a reboot that it asks for leads to the version that was wanted, or
 * back. The older operator's agent looks at neither.
 */
export const told: Rule = {
  name: 'told',
  begin(picture) {
    const said = new Said(picture);
    /** By UID of the Node of a host that has been asked to reboot, where that may lead. */
    const leadsTo = new Map<string, ReadonlySet<string>>();
    return {
      see(entry) {
        if (entry.kind === 'write' && entry.resource === 'bottlerocketshadows') said.note(entry);
        if (entry.kind !== 'host' || picture.processes.has(`upstream-agent-${entry.node}`)) return NOTHING;
        const { node, event } = entry;
        const uid = picture.nodes.get(node)?.facts.uid;
        if (uid === undefined) return NOTHING;
        if (isReboot(event)) leadsTo.set(uid, wantedOf(picture, node));
        return [...untold(said, uid, entry), ...astray(picture, leadsTo.get(uid), entry)];
      },
    };
  },
};

/** What shadows have told the Nodes that own them. */
class Said {
  readonly #sight: Sight;
  /** UIDs of Nodes whose own shadow has ever named a version, to install or to prepare ahead. */
  readonly #named = new Set<string>();
  /** Since when a shadow is there that nobody owns, by name of the node. */
  readonly #disowned = new Map<string, Instant>();

  constructor({ sight }: Picture) {
    this.#sight = sight;
  }

  note({ name, at, after }: Write): void {
    const { node, owners, state, hint } = after ? shadowFacts(after) : NO_SHADOW;
    if (state !== 'Idle' || hint !== undefined) for (const uid of owners) this.#named.add(uid);
    if (!after || owners.length > 0) this.#disowned.delete(name.replace(/^brs-/, ''));
    else getOrInsert(this.#disowned, node, () => at);
  }

  /** Whether an agent may act on that by then. */
  mayAct(uid: string, node: string, now: Instant): boolean {
    const disowned = this.#disowned.get(node);
    return this.#named.has(uid) && (disowned === undefined || !this.#sight.known(disowned, now));
  }
}

const NO_SHADOW = { node: '', owners: [], state: 'Idle', hint: undefined };

function untold(said: Said, uid: string, { node, event, at }: HostEntry & { readonly at: Instant }): readonly string[] {
  if (event.kind !== 'call' || !isTaken(event) || !ACTIONS.has(event.path)) return NOTHING;
  return said.mayAct(uid, node, at)
    ? NOTHING
    : [`${node} was asked to ${event.path}, and no shadow of its own says so`];
}

/** What it runs, what its shadow says, and what is on record of the request. */
function wantedOf({ hosts, shadows }: Picture, node: string): ReadonlySet<string> {
  const { version = '', status } = shadows.get(`brs-${node}`) ?? {};
  return new Set([hosts.get(node)?.version ?? '', version, status?.record?.version ?? '']);
}

function astray(
  { hosts }: Picture,
  allowed: ReadonlySet<string> | undefined,
  { node, event }: HostEntry,
): readonly string[] {
  if (event.kind !== 'up' || !allowed || !hosts.get(node)?.asked || allowed.has(event.version)) return NOTHING;
  return [`${node} has booted ${event.version}, and was to boot ${[...allowed].join(' or ')}`];
}
