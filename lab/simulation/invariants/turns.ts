import type { Instant, RequestEntry } from '../types.ts';
import { isController, nodeOf, shadowFacts, type ShadowFacts } from './facts.ts';
import { type Picture, startIn } from './picture.ts';
import { RETRIED_WITHIN } from './rest.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { arrives, type SeenNode } from './seen-node.ts';

/** What has stood for so long as it is surely waits for a place, milliseconds. */
const WAITS = 180_000;
/** By so much one whose update was called off comes later, or whose drain is known to be blocked. */
const CALLED_OFF = 0.5;
/** What finds another state than the cache shows is asked again so soon (L9), milliseconds. */
const LOOKS_AGAIN_WITHIN = 20_000;
/** Codes of that. */
const OTHER_STATE: ReadonlySet<number> = new Set([404, 409]);
/** Those that start together get their permits one after the other, within so long, milliseconds. */
const TOGETHER = 15_000;

/**
 * P6: of the nodes of a policy that wait for a place to go to one version, none starts before one that somebody asks for, or that has failed less often,
 * and the node that the controller runs on comes last.
 */
export const turns: Rule = {
  name: 'turns',
  begin(picture) {
    // By name of the shadow: since when its node stands as it does, and when another came before it.
    const since = new Map<string, Instant>();
    const passed = new Map<string, Instant>();
    const restsUntil = new Map<string, Instant>();
    const { see } = ofWrites('bottlerocketshadows', (write) => {
      if (!isSame(write)) since.set(write.name, write.at);
      for (const { facts } of passedOver(picture, write, since)) {
        const name = `brs-${facts.name}`;
        if ((restsUntil.get(name) ?? -Infinity) < write.at) passed.set(name, write.at);
      }
      for (const { shadow } of picture.lease.permits) passed.delete(shadow);
      const late = [...passed].filter(([, at]) => write.at - at > TOGETHER).map(([name]) => name);
      for (const name of late) passed.delete(name);
      return late.map((name) => `the node of ${name} is waiting, and one has started that comes after it`);
    });
    return {
      see(entry) {
        if (entry.kind === 'request' && isRefused(entry)) {
          const name = `brs-${nodeOf(entry.name)}`;
          const until = entry.at + (OTHER_STATE.has(entry.code) ? LOOKS_AGAIN_WITHIN : RETRIED_WITHIN);
          restsUntil.set(name, Math.max(until, restsUntil.get(name) ?? -Infinity));
        }
        return see?.(entry) ?? NOTHING;
      },
    };
  },
};

/** The write of a start, or the look before it: others start meanwhile (L9). */
function isRefused({ by, verb, resource, subresource, code }: RequestEntry): boolean {
  if (!isController(by) || subresource !== undefined || code < 400) return false;
  return ['get bottlerocketshadows', 'patch bottlerocketshadows', 'get nodes'].includes(`${verb} ${resource}`);
}

const isSame = ({ before, after }: Write): boolean =>
  before !== undefined && after !== undefined && standing(shadowFacts(before)) === standing(shadowFacts(after));

/** What decides whether a place is given to it, and when. */
const standing = ({ state, version, owners, status, verdict }: ShadowFacts): string =>
  JSON.stringify([state, version, owners, status?.current, status?.target, status?.crashes, verdict?.reason]);

/** Zones, and what widens, have an order of their own. What somebody else has out takes no place besides. */
function passedOver(picture: Picture, write: Write, since: ReadonlyMap<string, Instant>): readonly SeenNode[] {
  const start = startIn(write);
  const node = picture.nodes.get(start?.node ?? '');
  const group = node && picture.rulings.groupOf(node.facts);
  if (!start || !group || Number.isFinite(group.zones.atOnce) || group.widens || takesNoPlace(node)) return [];
  const turn = turnOf(picture, start.node);
  const alike = picture.membersOf(group).filter(({ facts }) => facts.family === node.facts.family);
  const before = alike.filter(({ facts }) => turnOf(picture, facts.name) + CALLED_OFF < turn);
  return before.filter((one) => {
    const shadow = picture.shadowOf(one.facts);
    if (!shadow || shadow.status?.target !== start.version || !waits(one, shadow)) return false;
    const last = Math.max(since.get(shadow.name) ?? 0, one.readyAt, one.heldAt, one.askedAt, picture.ruledAt(one));
    return last + WAITS <= write.sentAt && picture.sight.known(last, write.sentAt);
  });
}

const takesNoPlace = ({ facts }: SeenNode): boolean => arrives(facts) || (facts.cordoned && !facts.marks);

const waits = ({ facts }: SeenNode, { state, verdict }: ShadowFacts): boolean =>
  facts.ready && !facts.held && !facts.marks && state === 'Idle' && verdict?.reason === 'WaitingForSlot';

/** The lowest comes first. */
function turnOf({ nodes, shadows, lease, pods }: Picture, name: string): number {
  if (nodes.get(name)?.facts.isAskedFor) return -1;
  const [pod = ''] = lease.holder.split('_');
  const isOwn = [...pods.values()].some(({ facts }) => facts.node === name && facts.key.endsWith(`/${pod}`));
  return isOwn ? Infinity : (shadows.get(`brs-${name}`)?.status?.crashes ?? 0);
}
