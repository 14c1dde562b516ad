import { isRolledBack } from '../api/release/decided.ts';
import { ANY_FAMILY } from '../api/release/names.ts';
import { byWhom } from '../api/shadow/asked.ts';
import type { ReleaseView } from '../controller/plan/facts/snapshot.ts';
import type { Halted } from '../controller/plan/releases/os-release.ts';
import { AS_IS, type Here } from './arguments.ts';
import { NAME } from './help.ts';
import { firstOf } from './output/output.ts';

/** Nodes that are named for each way to fail. */
const MAX_NAMED = 5;

/** That a release is halted, and why. */
export function haltedText({ version, family, policy, failures, failed, mayFail, overAll }: Halted): string {
  const where = policy === undefined ? '' : ` for policy ${policy}`;
  if (mayFail === undefined) return `${version} (${family}) is halted${where} by people`;
  const alike = Map.groupBy(failed, ({ reason, runs }) =>
    runs === undefined ? reason : `${reason} (running ${runs})`,
  );
  const named = [...alike].map(([how, nodes]) => `${firstOf(namesOf(nodes), MAX_NAMED)} ${how}`);
  const who = named.length > 0 ? named.join('; ') : `it failed on ${failures} ${failures === 1 ? 'node' : 'nodes'}`;
  return `${version} (${family}) is halted${where}: ${who}; ${mayFail} may fail${overAll ? ' under all policies together' : ''}`;
}

const DECIDED = { Automatic: undefined, Halt: 'people have halted it', Allow: 'people let it go on' } as const;

/** What people have decided on a release; undefined where nobody has. */
export function decisionText({ version, family, decision, rollbackFor, decided }: ReleaseView): string | undefined {
  const said = isRolledBack({ rollbackFor }) ? 'people take nodes back from it' : DECIDED[decision];
  return said && `${version}${family === ANY_FAMILY ? '' : ` (${family})`}: ${said}${byWhom(decided)}`;
}

const namesOf = (nodes: Halted['failed']): readonly string[] => nodes.map(({ node }) => node);

/** Which nodes go on in spite of the halt, and the commands that end it. */
export function haltedRemedy({ version, mayFail }: Halted, here: Here = AS_IS): string {
  const allow = here(`${NAME} allow ${version}`);
  if (mayFail === undefined) return `Nodes whose drain has begun go on. ${allow} lets others start.`;
  const clear = here(`${NAME} clear ${version}`);
  return `Nodes that failed may try again, and those whose drain has begun go on. Where the nodes were at fault: ${clear}; to start others all the same: ${allow}.`;
}

/** For commands that show a plan. */
export const haltedLines = (halted: readonly Halted[], here: Here): readonly string[] =>
  halted.map((one) => `NEEDS YOU: ${haltedText(one)}. ${haltedRemedy(one, here)}`);
