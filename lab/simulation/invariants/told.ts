import { shadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { isReboot, isTaken } from './seen-host.ts';
import type { HostEntry } from '../types.ts';

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
    /** UIDs of Nodes whose own shadow has ever named a version, to install or to prepare ahead. */
    const named = new Set<string>();
    /** By UID of the Node of a host that has been asked to reboot, where that may lead. */
    const leadsTo = new Map<string, ReadonlySet<string>>();
    return {
      see(entry) {
        if (entry.kind === 'write' && entry.resource === 'bottlerocketshadows') noteNamed(named, entry);
        if (entry.kind !== 'host' || picture.processes.has(`upstream-agent-${entry.node}`)) return NOTHING;
        const { node, event } = entry;
        const uid = picture.nodes.get(node)?.facts.uid;
        if (uid === undefined) return NOTHING;
        if (isReboot(event)) leadsTo.set(uid, wantedOf(picture, node));
        return [...untold(named, uid, entry), ...astray(picture, leadsTo.get(uid), entry)];
      },
    };
  },
};

function noteNamed(named: Set<string>, { after }: Write): void {
  const { owners = [], state = 'Idle', hint } = (after && shadowFacts(after)) ?? {};
  if (state !== 'Idle' || hint !== undefined) for (const uid of owners) named.add(uid);
}

function untold(named: ReadonlySet<string>, uid: string, { node, event }: HostEntry): readonly string[] {
  if (event.kind !== 'call' || !isTaken(event) || !ACTIONS.has(event.path)) return NOTHING;
  return named.has(uid) ? NOTHING : [`${node} was asked to ${event.path}, and no shadow of its own has told it to`];
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
