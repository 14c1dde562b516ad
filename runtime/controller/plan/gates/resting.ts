import { type Command, type SetHint, type SetWish, writtenShadows } from '../facts/commands.ts';
import { nextAfter } from '../facts/requeue.ts';
import type { Fleet } from '../nodes/health.ts';
import type { World } from './asking.ts';
import { hintsFor } from './hints.ts';
import type { Starts } from './starts.ts';
import { wishesFor } from './wishes.ts';

/** Wishes that one plan writes: the writes that move updates on must not wait for many of these. */
const MOST_WISHES = 50;

/** What is written to shadows of nodes at rest, and starts nothing. */
interface RestingWrites {
  /** At most one for each shadow, and none for one that is written otherwise. */
  readonly commands: readonly (SetHint | SetWish)[];
  /** Those that are withheld, too. */
  readonly wishes: readonly SetWish[];
  readonly changesAt: number;
}

export function restingWrites(
  fleet: Pick<Fleet, 'managed' | 'alike'>,
  { starts, commands: others }: { readonly starts: Starts; readonly commands: readonly Command[] },
  world: World,
): RestingWrites {
  const { withheld, now } = world;
  const wishes = wishesFor(fleet, starts, world);
  const hints = hintsFor(fleet.managed, starts, world);
  const wishing = withheld.due(unwritten(wishes.commands, others)).slice(0, MOST_WISHES);
  const naming = withheld.due(unwritten(hints.commands, [...others, ...wishing]));
  const heldBack = withheld.changesAt([...wishes.commands, ...hints.commands]);
  return {
    commands: [...wishing, ...naming],
    wishes: wishes.commands,
    changesAt: nextAfter(now, [wishes.changesAt, hints.changesAt, heldBack]),
  };
}

function unwritten<C extends { readonly shadow: string }>(
  ours: readonly C[],
  commands: readonly Command[],
): readonly C[] {
  const written = writtenShadows(commands);
  return ours.filter(({ shadow }) => !written.has(shadow));
}
