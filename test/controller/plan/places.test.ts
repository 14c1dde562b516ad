import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  type Claim,
  freedAt,
  give,
  giveBack,
  isHeldByTime,
  NONE_GIVEN,
  placeOf,
  shortFor,
} from '../../../runtime/controller/plan/facts/places.ts';
import { runs } from '../../random.ts';

/** A budget, the budget over all and the zones, and nodes that ask for a part of each in turn. */
const NODES = ['a', 'b', 'c', 'd', 'e', 'f'];
const ZONES = ['z0', 'z1', 'z2'];
const until = fc.constantFrom(10, 20, 30, Infinity);
const taken = (keys: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...keys), until).map((one) => new Map(Object.entries(one)));
const limit = fc.constantFrom(0, 1, 2, 3, 5, Infinity);
const world = fc.record({
  budget: fc.tuple(limit, taken(NODES)),
  all: fc.tuple(limit, taken(NODES)),
  zones: fc.tuple(limit, taken(ZONES)),
  turns: fc.shuffledSubarray(NODES),
  zoneOf: fc.record(Object.fromEntries(NODES.map((name) => [name, fc.constantFrom(...ZONES)]))),
  chosen: fc.infiniteStream(fc.boolean()),
});

test('any part of what one fold gives keeps every place, so a swap may drop what it could not read', () => {
  fc.assert(
    fc.property(world, ({ turns, zoneOf, chosen, ...limits }) => {
      const [budget, all, zones] = [limits.budget, limits.all, limits.zones].map(([most, by]) => placeOf(most, by)) as [
        Claim['place'],
        Claim['place'],
        Claim['place'],
      ];
      const claimsOf = (name: string): readonly Claim[] => [
        { place: budget, key: name },
        { place: all, key: name },
        { place: zones, key: zoneOf[name]!, shared: true },
      ];
      let given = NONE_GIVEN;
      const permits = turns.filter((name) => {
        if (claimsOf(name).some((claim) => shortFor(claim, given) > 0)) return false;
        given = give(given, claimsOf(name));
        return true;
      });
      const some = permits.filter(() => chosen.next().value);
      for (const place of [budget, all, zones]) {
        const keys = some.flatMap((name) =>
          claimsOf(name).flatMap((claim) => (claim.place === place ? claim.key : [])),
        );
        // What stood before may exceed a limit that has fallen since; then nothing was given.
        if (keys.length > 0) expect(new Set([...place.taken.keys(), ...keys]).size).toBeLessThanOrEqual(place.limit);
      }
    }),
    runs(1000),
  );
});

test('a part comes back by time alone only where no update has taken it meanwhile', () => {
  const zones = placeOf(
    2,
    new Map([
      ['z0', 10],
      ['z1', 20],
    ]),
  );
  const claim = { place: zones, key: 'z2' };
  const given = give(NONE_GIVEN, [{ place: zones, key: 'z0', shared: true }]);
  expect([freedAt(claim, NONE_GIVEN), freedAt(claim, given)]).toEqual([10, 20]);
  expect([isHeldByTime(zones, NONE_GIVEN), isHeldByTime(zones, given)]).toEqual([true, false]);
});

test('what is given back makes room for another, as far as it was taken and is nobody else’s, too', () => {
  const full = (...keys: readonly string[]) => placeOf(keys.length, new Map(keys.map((key) => [key, Infinity])));
  const [own, others, zone] = [full('a'), full('b'), full('z')];
  const claimsOf = (name: string): readonly Claim[] => [
    { place: own, key: name },
    { place: others, key: name },
    { place: zone, key: 'z', shared: true },
  ];
  const given = giveBack(NONE_GIVEN, claimsOf('a'));
  expect([own, others].map((place) => shortFor({ place, key: 'c' }, given))).toEqual([0, 1]);
  expect(shortFor({ place: zone, key: 'y', shared: true }, given)).toBe(1);
});
