import { conversion, ownStatus, noFailures } from './authority.ts';
import { blame } from './blame.ts';
import { concurrency, outOfService } from './budget.ts';
import { administratorsCordons, drainsKept, nothingLeft, othersTaints } from './cordons.ts';
import { current } from './current.ts';
import { budgets, drainedBeforeReboot, recordBeforeReboot, volumes } from './drains.ts';
import { entered, ledgers } from './entered.ts';
import { evictions } from './evictions.ts';
import { hints } from './hints.ts';
import { kept, leadership } from './leadership.ts';
import { liveness } from './liveness.ts';
import { lists } from './lists.ts';
import { load } from './load.ts';
import { locks } from './locks.ts';
import { looks } from './looks.ts';
import { obeyed } from './obeyed.ts';
import { after, times } from './order.ts';
import { permits } from './permits.ts';
import { proof } from './proof.ts';
import { reach } from './reach.ts';
import { reduced } from './reduced.ts';
import { atRest } from './rest.ts';
import type { Rule } from './rule.ts';
import { rulers } from './rulers.ts';
import { settled } from './settled.ts';
import { lastLook, swaps } from './swaps.ts';
import { told } from './told.ts';
import { turns } from './turns.ts';

/** Every rule; lab/simulation/README.md says what each holds. */
export const RULES: readonly Rule[] = [
  concurrency,
  outOfService,
  permits,
  lists,
  entered,
  ledgers,
  hints,
  drainedBeforeReboot,
  recordBeforeReboot,
  told,
  budgets,
  evictions,
  volumes,
  settled,
  administratorsCordons,
  nothingLeft,
  drainsKept,
  othersTaints,
  obeyed,
  rulers,
  after,
  turns,
  times,
  current,
  swaps,
  leadership,
  kept,
  lastLook,
  ownStatus,
  conversion,
  proof,
  reach,
  blame,
  reduced,
  load,
  noFailures,
  locks,
  atRest,
  looks,
  liveness,
];
