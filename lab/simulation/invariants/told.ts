import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { HostEntry, Instant } from '../types.ts';
import { nodeOf, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { isReboot, isTaken } from './seen-host.ts';
import type { Sight } from './sight.ts';

const PREPARE = '/actions/prepare-update';
/** What disturbs a host, or changes what is on its disk. */
const ACTIONS: ReadonlySet<string> = new Set([PREPARE, '/actions/activate-update', '/actions/reboot']);

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
        if (isReboot(event)) leadsTo.set(uid, new Set([picture.host(node).version, ...said.wanted(uid)]));
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
  /** UIDs of those whose own shadow has been wanted to reboot since it last came to rest. */
  readonly #reboots = new Set<string>();
  /** By UID, its own shadow as it last named a version to install, whatever has become of it since. */
  readonly #last = new Map<string, ShadowFacts>();
  /** Since when a shadow is there that nobody owns, by name of the node. */
  readonly #disowned = new Map<string, Instant>();

  constructor({ sight }: Picture) {
    this.#sight = sight;
  }

  note({ name, at, after }: Write): void {
    const node = nodeOf(name);
    const facts = after && shadowFacts(after);
    const owners = facts?.owners ?? [];
    for (const uid of owners) this.#noteOf(uid, facts!);
    if (!facts || owners.length > 0) this.#disowned.delete(node);
    else getOrInsert(this.#disowned, node, () => at);
  }

  #noteOf(uid: string, facts: ShadowFacts): void {
    if (facts.state !== 'Idle' || facts.hint !== undefined) this.#named.add(uid);
    if (facts.state === 'RebootedIntoUpdate') this.#reboots.add(uid);
    else if (facts.status && !facts.active) this.#reboots.delete(uid);
    if (facts.version !== undefined) this.#last.set(uid, facts);
  }

  wanted(uid: string): readonly string[] {
    const { version = '', status } = this.#last.get(uid) ?? {};
    return [version, status?.record?.version ?? version];
  }

  /** Whether an agent may do that by then. What is prepared may have been taken back meanwhile. */
  mayAct(uid: string, { node, path }: { readonly node: string; readonly path: string }, now: Instant): boolean {
    const disowned = this.#disowned.get(node);
    const says = path === PREPARE ? this.#named : this.#reboots;
    return says.has(uid) && (disowned === undefined || !this.#sight.known(disowned, now));
  }
}

function untold(said: Said, uid: string, { node, event, at }: HostEntry & { readonly at: Instant }): readonly string[] {
  if (event.kind !== 'call' || !isTaken(event) || !ACTIONS.has(event.path)) return NOTHING;
  return said.mayAct(uid, { node, path: event.path }, at)
    ? NOTHING
    : [`${node} was asked to ${event.path}, and no shadow of its own says so`];
}

function astray(
  { hosts }: Picture,
  allowed: ReadonlySet<string> | undefined,
  { node, event }: HostEntry,
): readonly string[] {
  if (event.kind !== 'up' || !allowed || !hosts.get(node)?.asked || allowed.has(event.version)) return NOTHING;
  return [`${node} has booted ${event.version}, and was to boot ${[...allowed].join(' or ')}`];
}
