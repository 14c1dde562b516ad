import { randomUUID } from 'node:crypto';
import { configMapsPath } from '../../kube/resources.ts';
import { Collection } from '../../kube/collection.ts';
import type { ConfigMap } from '../../kube/objects.ts';
import { NOTIFICATIONS_STATE } from '../../api/notifications/names.ts';
import {
  readTestResult,
  TEST_ANNOTATION,
  TEST_RESULT,
  type TestRequest,
  type TestResult,
} from '../../api/notifications/test.ts';
import { type Answer, type Command, EXIT, RefusedCommandError, type CommandRequest, UsageError } from '../command.ts';
import { NAME } from '../help.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';
import { paint } from '../output/terminal.ts';
import {
  CHANGE_OPTIONS,
  annotationPatch,
  BY_OPTION,
  patchObject,
  isDryRun,
  type Target,
  requesterOf,
} from '../change.ts';

export const notify: Command = {
  name: 'notify',
  args: 'test [TARGET...]',
  summary: 'send a test message to the targets of notifications, and print the results',
  details: `The controller sends the message, with its own configuration, Secrets, proxies and network policies. It sends once and at once, also
where other messages wait for a target. Addresses and headers are not shown. Without TARGET it sends to every target.`,
  options: { ...BY_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: Infinity,
  run: (request) => {
    const [word, ...targets] = request.names;
    if (word !== 'test') throw new UsageError(`notify: expected ${notify.args}, got ${request.names.join(' ')}`);
    return sendTest(request, targets);
  },
};

/** A target has ten seconds to answer. The controller then needs some more to write the result. */
const PATIENCE_MS = 30_000;
const LOOK_EACH_MS = 500;

async function sendTest(request: CommandRequest, targets: readonly string[]): Promise<Answer> {
  const cluster = await connectToOperator(request);
  const asked: TestRequest = { id: randomUUID(), by: requesterOf(request), targets };
  const called = 'notifications: they are off, or no controller has led since they are on';
  const dryRun = isDryRun(request);
  const target = { path: configMapsPath(cluster.namespace), name: NOTIFICATIONS_STATE, called, dryRun };
  await patchObject(cluster, target, annotationPatch(TEST_ANNOTATION, JSON.stringify(asked)));
  if (dryRun) return { value: { dryRun, targets: [] }, lines: () => ['Nothing was written: --dry-run.'] };
  return answerOf(await awaitResult(request, { cluster, target, asked }));
}

interface Waiting {
  readonly cluster: OperatedCluster;
  readonly target: Target;
  readonly asked: TestRequest;
}

/** Waits for the result. @throws RefusedCommandError where no controller answers in time; the request is then withdrawn */
async function awaitResult({ clock }: CommandRequest, { cluster, target, asked }: Waiting): Promise<TestResult> {
  const configMaps = new Collection<ConfigMap>(cluster.transport, target.path);
  const end = clock.monotonic() + PATIENCE_MS;
  while (clock.monotonic() < end) {
    const found = await configMaps.get(target.name);
    const result = readTestResult(found?.data?.[TEST_RESULT]);
    if (result?.id === asked.id) return result;
    await clock.sleep(LOOK_EACH_MS);
  }
  await patchObject(cluster, target, ({ metadata }) => {
    const isOurs = metadata.annotations?.[TEST_ANNOTATION]?.includes(asked.id);
    return isOurs ? { metadata: { annotations: { [TEST_ANNOTATION]: null } } } : undefined;
  });
  throw new RefusedCommandError(
    `no controller has answered within ${PATIENCE_MS / 1000} s: ${NAME} doctor says whether one leads, and which version it has`,
  );
}

function answerOf({ targets, fault }: TestResult): Answer {
  if (fault !== undefined) throw new RefusedCommandError(fault);
  const isWell = targets.every(({ accepted }) => accepted);
  return {
    value: { dryRun: false, targets },
    lines: (terminal) =>
      targets.length === 0
        ? ['there are no targets']
        : targets.map(({ target, accepted, says }) =>
            paint(terminal, accepted ? 'good' : 'bad', `${target}: ${accepted ? 'accepted' : 'not accepted'}, ${says}`),
          ),
    exitCode: isWell ? EXIT.ok : EXIT.failed,
  };
}
