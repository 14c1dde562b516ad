import { isRolledBack } from '../api/release/decided.ts';
import { ANY_FAMILY } from '../api/release/names.ts';
import { byWhom } from '../api/shadow/asked.ts';
import { haltedBecause } from '../controller/plan/releases/halted.ts';
import type { ReleaseView } from '../controller/plan/facts/snapshot.ts';
import type { Halted } from '../controller/plan/releases/os-release.ts';
import { AS_IS, type Here } from './arguments.ts';
import { NAME } from './help.ts';
import { firstOf } from './output/output.ts';

/** Nodes that are named for each way to fail. */
const MAX_NAMED = 5;

/** That a release is halted, and why. */
export function haltedText(one: Halted): string {
  const { version, family, policy, because, failures, failed, mayFail } = one;
  const said = `${version} (${family}) is halted${policy === undefined ? '' : ` for policy ${policy}`}: ${haltedBecause(one, 'it')}`;
  if (isByPeople(because)) return said;
  const alike = Map.groupBy(failed, ({ reason, runs }) =>
    runs === undefined ? reason : `${reason} (running ${runs})`,
  );
  const named = [...alike].map(([how, nodes]) => `${firstOf(namesOf(nodes), MAX_NAMED)} ${how}`);
  const who = named.length > 0 ? named.join('; ') : `${failures} ${failures === 1 ? 'node' : 'nodes'}`;
  return `${said}${mayFail === undefined ? '' : ` (${mayFail} may)`}: ${who}`;
}

const isByPeople = (because: Halted['because']): boolean => because === 'People' || because === 'Rollback';

/** What people have decided on a release; undefined where nobody has. */
export function decisionText({ version, family, decision, rollbackFor, decided }: ReleaseView): string | undefined {
  const isHalted = isRolledBack({ rollbackFor }) ? 'Rollback' : decision === 'Halt' && 'People';
  if (!isHalted && decision === 'Automatic') return undefined;
  const said = isHalted ? haltedBecause({ because: isHalted, decided }, 'it') : `people let it go on${byWhom(decided)}`;
  return `${version}${family === ANY_FAMILY ? '' : ` (${family})`}: ${said}`;
}

const namesOf = (nodes: Halted['failed']): readonly string[] => nodes.map(({ node }) => node);

/** Commands that end the halt. */
export function haltedCommands({ version, because }: Halted): readonly string[] {
  return [...(isByPeople(because) ? [] : [`clear ${version}`]), `allow ${version}`];
}

const ENDS: Readonly<Record<Halted['because'], (allow: string, clear: string) => string>> = {
  Rollback: (allow) => `${allow} lets others start, and takes none back any more.`,
  People: (allow) => `${allow} lets others start.`,
  Check: (allow, clear) => `To ask the check again: ${clear}; to start others all the same: ${allow}.`,
  Nodes: byNodes,
  NodesOfAllPolicies: byNodes,
};

function byNodes(allow: string, clear: string): string {
  return `Where the nodes were at fault: ${clear}; to start others all the same: ${allow}.`;
}

/** Which nodes go on in spite of the halt, and the commands that end it. */
export function haltedRemedy({ version, because }: Halted, here: Here = AS_IS): string {
  const who = isByPeople(because) ? 'Nodes whose' : 'Nodes that failed may try again, and those whose';
  const ends = ENDS[because](here(`${NAME} allow ${version}`), here(`${NAME} clear ${version}`));
  return `${who} drain has begun go on. ${ends}`;
}

/** For commands that show a plan. */
export const haltedLines = (halted: readonly Halted[], here: Here): readonly string[] =>
  halted.map((one) => `NEEDS YOU: ${haltedText(one)}. ${haltedRemedy(one, here)}`);
