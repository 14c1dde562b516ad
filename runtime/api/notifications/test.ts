import { jsonObject } from '../../lib/json.ts';
import { type Fact, TEST_KIND } from './fact.ts';

/** Annotation of the ConfigMap `NOTIFICATIONS_STATE` that asks for a test message. */
export const TEST_ANNOTATION = 'brupop.bottlerocket.aws/notify-test';
/** Key of that ConfigMap with the result of the last test. */
export const TEST_RESULT = 'test.json';

/** The value of the annotation. */
export interface TestRequest {
  /** Identity of the request. The result has the same. */
  readonly id: string;
  /** Who asks, and why. */
  readonly by: string;
  /** Names of targets; empty = all. */
  readonly targets: readonly string[];
}

/** The result of a test. */
export interface TestResult {
  readonly id: string;
  readonly targets: readonly TestedTarget[];
  /** Why no message was sent; absent where one was. */
  readonly fault?: string;
}

export interface TestedTarget {
  readonly target: string;
  readonly accepted: boolean;
  /** The answer or error, without addresses. */
  readonly says: string;
}

/** Parses the annotation; undefined where it is missing or invalid. */
export function readTestRequest(text: string | undefined): TestRequest | undefined {
  const { id, by, targets } = jsonObject(text) as Partial<TestRequest>;
  if (typeof id !== 'string' || !Array.isArray(targets)) return undefined;
  return { id, by: typeof by === 'string' ? by : 'somebody', targets: targets.map(String) };
}

/** Parses the result; undefined where it is missing or invalid. */
export function readTestResult(text: string | undefined): TestResult | undefined {
  const result = jsonObject(text) as Partial<TestResult>;
  return typeof result.id === 'string' && Array.isArray(result.targets) ? (result as TestResult) : undefined;
}

/** The test message. @param time RFC 3339 */
export function testFact({ id, by }: TestRequest, time: string): Fact {
  return { id, kind: TEST_KIND, severity: 'info', time, message: `a test of notifications, asked for by ${by}` };
}
