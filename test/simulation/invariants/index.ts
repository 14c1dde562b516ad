import type { Invariant, Scenario } from '../types.ts';
import { conversion, ownStatus, noFailures } from './authority.ts';
import { blame } from './blame.ts';
import { concurrency, outOfService } from './concurrency.ts';
import { administratorsCordons, nothingLeft } from './cordons.ts';
import { current } from './current.ts';
import { budgets, drainedBeforeReboot, recordBeforeReboot, volumes } from './drains.ts';
import { leadership } from './leadership.ts';
import { liveness } from './liveness.ts';
import { load } from './load.ts';
import { drains, released } from './marks.ts';
import { Picture } from './picture.ts';
import { dependencies, frozen, pauses, places, ruled, zones } from './policies.ts';
import { saidOnce } from './policy-status.ts';
import { halted, proof, reach } from './releases.ts';
import { actedOn, hostCalls, records } from './reports.ts';
import { cordonsAtRest, marksAtRest, shadowsOfNodes, slotsAtRest } from './rest.ts';
import { NOTHING, type Rule } from './rule.ts';
import { givenBack, slots } from './slots.ts';
import { soaks } from './soaks.ts';
import { calledOff } from './specs.ts';
import { held, managed, offered, paused, ready, windows } from './starts.ts';
import { lastLook, swaps } from './swaps.ts';

/** Every rule; docs/invariants.md says what each holds. */
export const RULES: readonly Rule[] = [
  concurrency,
  outOfService,
  drainedBeforeReboot,
  recordBeforeReboot,
  budgets,
  volumes,
  administratorsCordons,
  nothingLeft,
  paused,
  held,
  ready,
  managed,
  windows,
  offered,
  ruled,
  current,
  frozen,
  places,
  zones,
  pauses,
  dependencies,
  saidOnce,
  slots,
  givenBack,
  swaps,
  leadership,
  calledOff,
  drains,
  lastLook,
  released,
  ownStatus,
  actedOn,
  records,
  hostCalls,
  conversion,
  halted,
  proof,
  reach,
  blame,
  soaks,
  load,
  noFailures,
  marksAtRest,
  cordonsAtRest,
  slotsAtRest,
  shadowsOfNodes,
  liveness,
];

/** The rules as invariants of runs that come one after another: in each of them all judges look at one picture. */
export function createInvariants(rules: readonly Rule[] = RULES): readonly Invariant[] {
  let shared: { readonly scenario: Scenario; readonly picture: Picture } | undefined;
  const pictureOf = (scenario: Scenario): Picture => {
    if (shared?.scenario !== scenario || shared.picture.begun) shared = { scenario, picture: new Picture(scenario) };
    return shared.picture;
  };
  return rules.map(({ name, begin }) => ({
    name,
    begin(scenario) {
      const picture = pictureOf(scenario);
      const judge = begin(picture, scenario);
      return {
        ...judge,
        see(entry) {
          picture.see(entry);
          return judge.see?.(entry) ?? NOTHING;
        },
      };
    },
  }));
}
