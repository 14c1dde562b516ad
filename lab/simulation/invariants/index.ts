import type { Invariant, Scenario } from '../types.ts';
import { conversion, ownStatus, noFailures } from './authority.ts';
import { blame } from './blame.ts';
import { concurrency, outOfService } from './budget.ts';
import { administratorsCordons, nothingLeft } from './cordons.ts';
import { current } from './current.ts';
import { budgets, drainedBeforeReboot, recordBeforeReboot, volumes } from './drains.ts';
import { kept } from './kept.ts';
import { leadership } from './leadership.ts';
import { liveness } from './liveness.ts';
import { load } from './load.ts';
import { locks } from './locks.ts';
import { obeyed } from './obeyed.ts';
import { permits } from './permits.ts';
import { Picture } from './picture.ts';
import { reach } from './reach.ts';
import { atRest } from './rest.ts';
import { NOTHING, type Rule } from './rule.ts';
import { rulers } from './rulers.ts';
import { lastLook, swaps } from './swaps.ts';

/** Every rule; lab/simulation/README.md says what each holds. */
export const RULES: readonly Rule[] = [
  concurrency,
  outOfService,
  permits,
  drainedBeforeReboot,
  recordBeforeReboot,
  budgets,
  volumes,
  administratorsCordons,
  nothingLeft,
  obeyed,
  rulers,
  current,
  swaps,
  leadership,
  kept,
  lastLook,
  ownStatus,
  conversion,
  reach,
  blame,
  load,
  noFailures,
  locks,
  atRest,
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
