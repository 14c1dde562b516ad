import { type ReleaseResource, RELEASES_PATH } from '../../api/resources.ts';
import { DECIDED_ANNOTATION, decidedText } from '../../api/release/decided.ts';
import type { Decision } from '../../api/release/model.ts';
import {
  ANY_FAMILY,
  RELEASE_API_VERSION,
  RELEASE_KIND,
  RELEASE_SHORT_NAME,
  releaseObjectName,
} from '../../api/release/names.ts';
import { isSemver } from '../../api/shadow/semver.ts';
import type { Answer, Command, CommandRequest } from '../command.ts';
import { NAME } from '../help.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';
import { calledOf, knownReleases, noRelease, releasesCalled, versionIn } from '../known-releases.ts';
import {
  BY_OPTION,
  type Change,
  CHANGE_OPTIONS,
  changeAll,
  createObject,
  isDryRun,
  patchObject,
  requestOf,
} from '../change.ts';

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

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
}

type Said = keyof typeof SAYS;

async function decide(request: CommandRequest, decision: Said): Promise<Answer> {
  const cluster = await connectToOperator(request);
  const [words = ''] = request.names;
  const known = await knownReleases(cluster);
  const called = releasesCalled(known, words);
  const version = versionIn(words);
  const session = { request, cluster };
  if (called.length > 0) {
    const wanted = called.map((one) => ({
      object: calledOf(one),
      change: () => setDecision(session, one, decision),
    }));
    return changeAll(request, wanted);
  }
  if (decision !== 'Halt' || !isSemver(version)) throw noRelease(known, words);
  const ahead = { spec: { family: ANY_FAMILY, version, decision } };
  return changeAll(request, [{ object: calledOf(ahead), change: () => create(session, ahead) }]);
}

async function setDecision({ request, cluster }: Session, release: ReleaseResource, decision: Said): Promise<Change> {
  const { name } = release.metadata;
  const target = { path: RELEASES_PATH, name, called: calledOf(release), dryRun: isDryRun(request) };
  let before: Decision = 'Automatic';
  const changed = await patchObject(cluster, target, (object) => {
    before = (object as ReleaseResource).spec.decision ?? 'Automatic';
    return before === decision ? undefined : { metadata: saying(request, decision), spec: { decision } };
  });
  return { object: target.called, changed, says: SAYS[decision], undo: undoOf(name, before) };
}

const saying = (request: CommandRequest, decision: Said): Pick<ReleaseResource['metadata'], 'annotations'> => ({
  annotations: {
    [DECIDED_ANNOTATION]: decidedText(decision, requestOf(request)),
  },
});

const undoOf = (name: string, before: Decision): string =>
  before === 'Automatic'
    ? `kubectl patch ${RELEASE_SHORT_NAME} ${name} --type merge --patch '{"spec":{"decision":"Automatic"}}'`
    : `${NAME} ${before.toLowerCase()} ${name}`;

/** Before any host is offered it. */
async function create({ request, cluster }: Session, { spec }: Pick<ReleaseResource, 'spec'>): Promise<Change> {
  const name = releaseObjectName(spec);
  const metadata = { name, ...saying(request, 'Halt') };
  const object = { apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata, spec };
  await createObject(cluster, { path: RELEASES_PATH, object, dryRun: isDryRun(request) });
  const undo = `kubectl delete ${RELEASE_SHORT_NAME} ${name}`;
  return { object: calledOf({ spec }), changed: true, says: SAYS.Halt, undo };
}
