import { mayCallOff } from '../facts/phase.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { isKnown, underWayOf, type World } from './asking.ts';
import { firstOf, type Found, mayPrepare, STILL } from './gates.ts';
import type { Starts } from './starts.ts';

/** A node whose new pods are to go to other nodes where these have room, or no longer (rule P14). */
export interface Preference {
  readonly node: string;
  readonly isAvoided: boolean;
}

interface Preferences {
  /** Nodes whose taint is not yet as it should be. */
  readonly due: readonly Preference[];
  readonly changesAt: number;
}

/** Where nothing is known, all stays as it is. A node with marks is cordoned, and what its drain writes comes first. */
export function preferencesOf(all: readonly AssessedNode[], starts: Starts, world: World): Preferences {
  const asked = isKnown(world) ? all.filter((info) => !info.node.marks && (bears(info) || isRuledSo(info))) : [];
  const waits = asked.map((info) => ({ info, wait: waitOf(info, starts, world) }));
  return {
    due: waits.flatMap(({ info, wait }) => {
      const isAvoided = mayGoOn(wait);
      return isAvoided === bears(info) ? [] : [{ node: info.node.name, isAvoided }];
    }),
    changesAt: nextAfter(
      world.now,
      waits.map(({ wait }) => wait?.changesAt ?? NEVER),
    ),
  };
}

const bears = ({ node }: AssessedNode): boolean => node.bearsWaiting === true;

type Wait = Pick<Found, 'gate' | 'changesAt'> | undefined;

const isRuledSo = ({ node, ruling }: AssessedNode): boolean =>
  ruling.rules.prefersUpdated && ruling.policy !== undefined && node.managed;

const mayGoOn = (wait: Wait): boolean => wait !== undefined && (wait.gate === undefined || mayPrepare(wait));

/** What the gates say of a node that has its update ahead, to a release that is proven; undefined for every other. */
function waitOf(info: AssessedNode, starts: Starts, world: World): Wait {
  const { shadow, phase, offered } = info;
  if (!shadow?.status || !isRuledSo(info)) return undefined;
  // What is offered no more, an agent ends by itself.
  if (shadow.status.target_version === shadow.status.current_version) return undefined;
  if (!mayCallOff(phase)) return isProven(info, offered, world) ? atRest(info, starts) : undefined;
  const { version } = shadow.spec;
  return isProven(info, version, world) ? firstOf(underWayOf(info, shadow, world), world, STILL) : undefined;
}

function isProven(info: AssessedNode, version: string | null | undefined, { groups }: World): boolean {
  return (
    version != null && groups.of(info)?.releases.of(info.node.family, version).proof.isProvenFor(info.node) === true
  );
}

function atRest(info: AssessedNode, { kept, starting }: Starts): Wait {
  const gate = kept[info.at]?.gate;
  return gate !== undefined || starting.has(info)
    ? { ...(gate !== undefined && { gate }), changesAt: NEVER }
    : undefined;
}
