import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { AskedEntry, Entry, Instant } from '../types.ts';
import { at as within, isAgent, isApiserver, isOperator, parsed, shadowFacts, type StatusFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import type { Sight } from './sight.ts';

/** How long after an agent's request a replica may still write what it asked for, also one that stood still meanwhile, milliseconds. */
const LANDS_WITHIN = 300_000;
/** The older operator's agent waits for its answer for as long as that takes. Ours asks again each minute. */
const countsFor = ({ by }: AskedEntry): number => (by.startsWith('upstream-') ? Infinity : LANDS_WITHIN);

/** What a status says of the node, and what a drain does to it, was asked for by the agent that runs there. */
export const ownStatus: Rule = {
  name: 'own-status',
  begin(picture) {
    const asked = new AgentRequests(picture);
    return {
      see(entry) {
        asked.note(entry);
        if (entry.kind !== 'write') return NOTHING;
        if (isAgent(entry.by)) return [`${entry.by} wrote ${entry.resource} ${entry.name} itself`];
        if (!isApiserver(entry.by) || !entry.before || !entry.after) return NOTHING;
        if (entry.resource === 'nodes') return asked.isBehind(entry, entry.name) ? NOTHING : [unasked(entry)];
        return entry.resource === 'bottlerocketshadows' ? foreign(picture, asked, entry) : NOTHING;
      },
    };
  },
};

/** What agents have asked apiservers for lately. */
class AgentRequests {
  readonly #sight: Sight;
  /** By replica and node. */
  readonly #requests = new Map<string, readonly (AskedEntry & { readonly at: Instant })[]>();

  constructor({ sight }: Picture) {
    this.#sight = sight;
  }

  note(entry: Entry): void {
    if (entry.kind !== 'asked') return;
    const key = `${entry.to} ${entry.node}`;
    const lately = (this.#requests.get(key) ?? []).filter((request) => entry.at - request.at < countsFor(request));
    this.#requests.set(key, [...lately, entry]);
  }

  /** Whether the node's own agent has asked this replica for what it wrote: for anything at all, or for just this. */
  isBehind({ by, at, sentAt }: Write, node: string, says: (request: AskedEntry) => boolean = () => true): boolean {
    if (at - this.#sight.wentOnAt(by) < LANDS_WITHIN) return true;
    const requests = this.#requests.get(`${by} ${node}`) ?? [];
    return requests.some((request) => sentAt - request.at < countsFor(request) && says(request));
  }
}

const unasked = ({ by, resource, name }: Write): string =>
  `${by} wrote ${resource} ${name}, and its agent has not asked`;

function foreign(picture: Picture, asked: AgentRequests, write: Write): readonly string[] {
  const [old, { node, status }] = [shadowFacts(write.before!).status, shadowFacts(write.after!)];
  if (!status || JSON.stringify(old) === JSON.stringify(status)) return NOTHING;
  const isSaid = SAID.every((field) => old?.[field] === status[field]);
  const { resourceVersion } = write.before!.metadata;
  // B5: no replica writes it to another shadow than that on which the agent acted.
  const says = ({ body, acted = resourceVersion }: AskedEntry): boolean =>
    isSaid || (acted === resourceVersion && saysOf(parsed(body), status));
  return [
    ...ofAnotherHost(picture, node, { old, status }),
    ...(asked.isBehind(write, node, says) ? NOTHING : [unasked(write)]),
  ];
}

/** The part of a status that only an agent writes. */
const SAID = ['state', 'current', 'target', 'crashes'] as const;

const saysOf = (body: unknown, { state, current, crashes }: StatusFacts): boolean =>
  within(body, 'current_state') === state &&
  within(body, 'current_version') === current &&
  within(body, 'crash_count') === crashes;

function ofAnotherHost(
  { hosts }: Picture,
  node: string,
  { old, status: { record, current } }: { readonly old: StatusFacts | undefined; readonly status: StatusFacts },
): readonly string[] {
  const host = hosts.get(node);
  if (!host) return NOTHING;
  if (record && record.boot !== old?.record?.boot && !host.boots.has(record.boot))
    return [`the status of ${node} names a boot of another host: ${record.boot}`];
  const isKnown = current === old?.current || host.versions.has(current);
  return isKnown ? NOTHING : [`the status of ${node} says that it runs ${current}, which it never did`];
}

const CONVERSION_DATA = 'brupop.bottlerocket.aws/conversion-data';
const SEEN_AS = 'example.com/seen-as';

/** C1: a client that writes a shadow back as v1, with all that it was given, changes no field that v1 does not have, and any that it has. */
function lost({ by, name, before, after, subresource }: Write): readonly string[] {
  if (!before || !after || isOperator(by) || subresource !== undefined) return NOTHING;
  const seenAs = seenAsIn(after);
  const what = seenAs === undefined ? undefined : LOST[seenAs]?.(before, after);
  return what === undefined ? NOTHING : [`${name} was written as v1, and ${what}`];
}

const seenAsIn = ({ metadata: { annotations } }: KubeObject): string | undefined => annotations?.[SEEN_AS];

/** By what the client has noted on it: what must not be so. Others may write later, and leave that there. */
const LOST: Readonly<Record<string, (before: KubeObject, after: KubeObject) => string | undefined>> = {
  v1: (before, after) => {
    const [old, made] = [shadowFacts(before).status, shadowFacts(after).status];
    return JSON.stringify(old) === JSON.stringify(made) ? undefined : 'lost what v1 has no field for';
  },
  'v1, and ended': (before, after) =>
    seenAsIn(before) === seenAsIn(after) || shadowFacts(after).state === 'Idle'
      ? undefined
      : 'is not Idle, as it was to be',
};

/** C1, C2. */
export const conversion: Rule = {
  name: 'conversion',
  begin: () =>
    ofWrites('bottlerocketshadows', (write) =>
      write.after?.metadata.annotations?.[CONVERSION_DATA] === undefined
        ? lost(write)
        : [`${write.name} is stored as it is given out as v1`],
    ),
};

export const noFailures: Rule = {
  name: 'no-failures',
  begin: () => ({
    see: (entry) =>
      entry.kind === 'process' && entry.event === 'failed'
        ? [`${entry.process} failed: ${entry.why ?? 'no reason'}`]
        : NOTHING,
  }),
};
