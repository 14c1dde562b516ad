import type { World } from './asking.ts';
import { firstOf, type Found, isOfAll, OTHERS } from './gates.ts';
import type { Group } from '../groups/groups.ts';
import type { Given } from '../facts/places.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { provenWith } from '../releases/proving.ts';
import type { OsRelease } from '../releases/os-release.ts';
import type { Ruled } from './turns.ts';
import { isBack, isDownwards } from './versions.ts';

/** Nodes that others keep from their update alike: settled ones of one release, proof and zone. Any other is alone. */
export interface Crowd {
  /** The first of them. */
  readonly one: Ruled;
  /** By name. */
  readonly members: readonly AssessedNode[];
}

/** What others keep all members of a crowd from, as of what was given by then. */
interface Heard {
  readonly found: Found;
  readonly given: Given;
}

/** Nodes that nothing but other nodes can keep from starting. Of thousands that wait for the same, one is asked. */
export class Crowds {
  readonly #withheld: World['withheld'];
  readonly #of = new Map<Group, Crowd[]>();
  /** By zone, and where proof is per value of a label, by that: neither has a slash in it. */
  readonly #known = new Map<OsRelease, Map<string, AssessedNode[]>>();
  readonly #heard = new Map<readonly AssessedNode[], Heard>();

  constructor({ withheld }: Pick<World, 'withheld'>) {
    this.#withheld = withheld;
  }

  join(one: Ruled): void {
    const members = this.#alike(one) ?? [];
    if (members.push(one.info) > 1) return;
    const crowds = this.#of.get(one.group);
    if (crowds) crowds.push({ one, members });
    else this.#of.set(one.group, [{ one, members }]);
  }

  of(group: Group): readonly Crowd[] {
    return this.#of.get(group) ?? [];
  }

  /** What other nodes keep this one from. */
  ask(asking: Ruled, world: World): Found {
    const members = this.#alike(asking);
    const heard = members && this.#heard.get(members);
    if (heard?.given === world.given) return heard.found;
    const found = firstOf(asking, world, OTHERS);
    if (members && isOfAll(found)) this.#heard.set(members, { found, given: world.given });
    return found;
  }

  /** Those that are like this one; undefined where none is. They differ in the room alone that their permits take on the Lease. */
  #alike(asking: Ruled): AssessedNode[] | undefined {
    if (this.#isOdd(asking)) return undefined;
    const { info, group, release } = asking;
    const { proof } = group.rules;
    const key = proof.per === undefined ? info.zone : `${info.zone}/${provenWith(info.node, proof)}`;
    const known = this.#known.get(release) ?? new Map<string, AssessedNode[]>();
    const members = known.get(key) ?? [];
    if (members.length === 0) this.#known.set(release, known.set(key, members));
    return members;
  }

  #isOdd(asking: Ruled): boolean {
    const { info, group, isRetry, isArriving } = asking;
    const isWithheld = this.#withheld.refusalOf('start', info.node.shadowName) !== undefined;
    const isUnasked = isBack(asking) || (group.rules.needsApproval && isDownwards(asking));
    return !info.isSettled || isRetry || isArriving || isWithheld || isUnasked;
  }
}
