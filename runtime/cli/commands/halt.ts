import type { ReleaseResource } from '../../api/resources.ts';
import { DECIDED_ANNOTATION, decidedText, isRolledBack } from '../../api/release/decided.ts';
import type { Decision } from '../../api/release/model.ts';
import { RELEASE_SHORT_NAME } from '../../api/release/names.ts';
import type { Answer, Command, CommandRequest } from '../command.ts';
import { NAME } from '../help.ts';
import { connectToOperator } from '../operator.ts';
import { BY_OPTION, CHANGE_OPTIONS, requestOf } from '../change.ts';
import { changeReleases } from '../change-releases.ts';

export const halt: Command = {
  name: 'halt',
  args: 'RELEASE',
  summary: 'start no node on a release, whatever becomes of it',
  details: `RELEASE is a version, for every variant and architecture that knows it, or the name of one BottlerocketRelease. A version that no node
knows yet is halted for all of them before it is offered. Nodes that have only staged it are called off; those whose drain has begun go on.`,
  options: { ...BY_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: 1,
  run: (request) => decide(request, 'Halt'),
};

export const allow: Command = {
  name: 'allow',
  args: 'RELEASE',
  summary: 'let nodes start on a release although others have failed on it',
  details: `RELEASE is a version, for every variant and architecture that knows it, or the name of one BottlerocketRelease. Failures are kept, and halt
it no more. To take failures back instead, use clear.`,
  options: { ...BY_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: 1,
  run: (request) => decide(request, 'Allow'),
};

const SAYS = { Halt: 'is halted, no node starts on it', Allow: 'is allowed, failures do not halt it' } as const;

type Said = keyof typeof SAYS;

async function decide(request: CommandRequest, decision: Said): Promise<Answer> {
  const metadata = { annotations: { [DECIDED_ANNOTATION]: decidedText(decision, requestOf(request)) } };
  return changeReleases(request, await connectToOperator(request), {
    says: SAYS[decision],
    patchOf: ({ spec }) => {
      // Whoever lets nodes start on it takes none back from it.
      const ends = decision === 'Allow' && isRolledBack(spec);
      if (decisionOf(spec) === decision && !ends) return undefined;
      return { metadata, spec: { decision, ...(ends && { rollbackFor: [] }) } };
    },
    undoOf: ({ metadata: { name }, spec }) => undoOf(name, spec, decision),
    ahead: decision === 'Halt' ? { metadata, spec: { decision } } : undefined,
  });
}

const decisionOf = ({ decision = 'Automatic' }: ReleaseResource['spec']): Decision => decision;

function undoOf(name: string, before: ReleaseResource['spec'], decision: Said): string {
  const was = decisionOf(before);
  const ended = decision === 'Allow' && isRolledBack(before) && { rollbackFor: before.rollbackFor };
  if (was !== 'Automatic' && !ended) return `${NAME} ${was.toLowerCase()} ${name}`;
  const patch = JSON.stringify({ spec: { decision: was, ...ended } });
  return `kubectl patch ${RELEASE_SHORT_NAME} ${name} --type merge --patch '${patch}'`;
}
