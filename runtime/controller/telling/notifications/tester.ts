import { rfc3339 } from '../../../lib/clock.ts';
import { shortened } from '../../../lib/parts.ts';
import { backoff } from '../../../lib/retry.ts';
import type { Fact } from '../../../api/notifications/fact.ts';
import { NOTIFICATIONS_STATE } from '../../../api/notifications/names.ts';
import {
  readTestRequest,
  readTestResult,
  TEST_ANNOTATION,
  TEST_RESULT,
  type TestedTarget,
  testFact,
  type TestRequest,
  type TestResult,
} from '../../../api/notifications/test.ts';
import type { NotifierParts } from '../notifier.ts';
import type { DeliveryOutcome } from './outcome.ts';

/** How often the write of the result is tried: the person who asked waits for half a minute. */
const TRIES = 5;
const PAUSE = { firstMs: 500, maxMs: 5000 };
/** Bytes of the name that the request gives for who asked. */
const LONGEST_WORDS = 256;

interface TesterOptions extends Pick<NotifierParts, 'watch' | 'configMaps' | 'clock' | 'random' | 'logger'> {
  /** Names of the configured targets; undefined while the configuration cannot be used. */
  readonly targets: () => readonly string[] | undefined;
  /** Called when the ConfigMap is not there. */
  readonly onGone: () => void;
  /** Sends the fact before everything that waits. Tries once, and never rejects. */
  readonly deliver: (target: string, fact: Fact, signal: AbortSignal) => Promise<DeliveryOutcome>;
}

/** Sends the test notifications that people ask for, and writes what became of them, until the signal aborts. */
export async function answerTests(options: TesterOptions, signal: AbortSignal): Promise<void> {
  for await (const found of options.watch(signal)) {
    if (!found) {
      options.onGone();
      continue;
    }
    const request = readTestRequest(found.metadata.annotations?.[TEST_ANNOTATION]);
    // An earlier leader may have answered and failed to take the request away.
    if (!request || request.id === readTestResult(found.data?.[TEST_RESULT])?.id) continue;
    const result = await tested(request, options, signal);
    if (!signal.aborted) await publish(result, options, signal);
  }
}

async function tested(request: TestRequest, options: TesterOptions, signal: AbortSignal): Promise<TestResult> {
  const { id } = request;
  const known = options.targets();
  if (!known)
    return {
      id,
      targets: [],
      fault: 'the configuration of notifications cannot be used: the log of the controller says why',
    };
  const wanted = request.targets.length > 0 ? [...new Set(request.targets)] : known;
  const by = shortened(request.by, LONGEST_WORDS);
  const fact = testFact({ ...request, by }, rfc3339(options.clock.now()));
  const tries = wanted.map(async (target): Promise<TestedTarget> => {
    if (!known.includes(target)) return { target, accepted: false, says: 'there is no such target' };
    const outcome = await options.deliver(target, fact, signal);
    return outcome.kind === 'accepted'
      ? { target, accepted: true, says: `it answers ${outcome.status}` }
      : { target, accepted: false, says: outcome.why };
  });
  return { id, targets: await Promise.all(tries) };
}

async function publish(result: TestResult, options: TesterOptions, signal: AbortSignal): Promise<void> {
  const { configMaps, clock, random, logger } = options;
  const patch = {
    metadata: { annotations: { [TEST_ANNOTATION]: null } },
    data: { [TEST_RESULT]: JSON.stringify(result) },
  };
  for (let failures = 0; failures < TRIES && !signal.aborted; failures++) {
    try {
      await configMaps.patch(NOTIFICATIONS_STATE, patch, signal);
      return;
    } catch (error) {
      if (!signal.aborted) logger.warn('result of a test of notifications not written', { error });
      await clock.sleep(backoff(failures, { ...PAUSE, random }), signal).catch(() => undefined);
    }
  }
}
