import { DOCUMENTS } from '../../../lib/version.ts';
import { needsPerson, type Reason } from './reasons.ts';

const PAGE = 'operating.md';
/** Has a row for each verdict. */
const TABLE = 'why-is-this-node-not-being-updated';

/** Verdicts with a section of their own. */
const SECTIONS: Readonly<Partial<Record<Reason, string>>> = {
  NotReturned: 'a-node-did-not-come-back',
  SoakFailed: 'a-node-did-not-come-back',
  NotCurrent: 'when-the-cluster-cannot-be-read',
  RolloutHalted: 'the-rollout-halted',
  TooManyUnhealthy: 'where-many-nodes-are-not-ready',
  DrainBlocked: 'a-drain-hangs',
  AgentSilent: 'a-node-does-not-update',
  AgentMissing: 'a-node-does-not-update',
  Reverted: 'a-node-has-to-go-back-to-its-older-version',
  Unstable: 'a-node-has-to-go-back-to-its-older-version',
  WorkloadsWorse: 'workloads-after-an-update',
  CannotLookForUpdates: 'a-host-cannot-look-for-updates',
};

/** The file in `docs` and the heading that say what to do about a verdict. */
export const sectionOf = (reason: Reason): string => `${PAGE}#${SECTIONS[reason] ?? TABLE}`;
/** The same as an address; undefined where nobody has to act. */
export const runbookOf = (reason: Reason): string | undefined =>
  needsPerson(reason) ? `${DOCUMENTS}/${sectionOf(reason)}` : undefined;
