import { getOrInsert } from '../../../lib/maps.ts';
import { isAlone } from './alike.ts';
import type { World } from './asking.ts';
import { firstOf, type Found, isOfAll, OTHERS } from './gates.ts';
import type { Group } from '../groups/groups.ts';
import type { Given } from '../facts/places.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { Ruled } from './turns.ts';

/** Nodes that others keep from their update alike: those of one kind. Any other is alone. */
export interface Crowd {
  /** The first of them. */
  readonly one: Ruled;
  /** By name. */
  readonly members: AssessedNode[];
}

/** What others keep all members of a crowd from, as of what was given by then. */
interface Heard {
  readonly found: Found;
  readonly given: Given;
}

/** Nodes that nothing but other nodes can keep from starting, of which those join together that are alike. Of thousands that wait for the same, one is asked. */
export class Crowds {
  readonly #all = new Map<Key, Crowd>();
  readonly #heard = new Map<Key, Heard>();

  join(one: Ruled, those: readonly AssessedNode[], world: World): void {
    const { members } = getOrInsert(this.#all, keyOf(one, world), () => ({ one, members: [] }));
    for (const info of those) members.push(info);
  }

  of(group: Group): readonly Crowd[] {
    return [...this.#all.values()].filter(({ one }) => one.group === group);
  }

  /** What other nodes keep this one from. All of a kind differ in the room alone that their permits take on the Lease. */
  ask(asking: Ruled, world: World): Found {
    const key = keyOf(asking, world);
    const heard = this.#heard.get(key);
    if (heard?.given === world.given) return heard.found;
    const found = firstOf(asking, world, OTHERS);
    if (isOfAll(found)) this.#heard.set(key, { found, given: world.given });
    return found;
  }
}

/** The kind of the node, or the node where it is alone. */
type Key = string | AssessedNode;

const keyOf = ({ info, release }: Ruled, world: World): Key =>
  isAlone(info, release, world) ? info : (info.kind ?? info);
