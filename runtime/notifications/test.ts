import { jsonObject } from '../lib/json.ts';
import { type Fact, TEST_KIND } from './fact.ts';

/** Annotation of the ConfigMap that remembers: somebody wants to see whether notifications arrive. */
export const TEST_ANNOTATION = 'brupop.bottlerocket.aws/notify-test';
/** Key of that ConfigMap: what became of the last test. */
export const TEST_RESULT = 'test.json';

/** What somebody asks for. */
export interface TestRequest {
  /** Of the request; the result bears it. */
  readonly id: string;
  /** Who asks, in his own words. */
  readonly by: string;
  /** Names; empty = all. */
  readonly targets: readonly string[];
}

/** What became of it. */
export interface TestResult {
  readonly id: string;
  readonly targets: readonly TestedTarget[];
  /** Why nobody was told; absent where somebody was. */
  readonly fault?: string;
}

export interface TestedTarget {
  readonly target: string;
  readonly accepted: boolean;
  /** In words that hold no address. */
  readonly says: string;
}

/** @returns undefined where there is none, or none that makes sense */
export function readTestRequest(text: string | undefined): TestRequest | undefined {
  const { id, by, targets } = jsonObject(text) as Partial<TestRequest>;
  if (typeof id !== 'string' || !Array.isArray(targets)) return undefined;
  return { id, by: typeof by === 'string' ? by : 'somebody', targets: targets.map(String) };
}

/** @returns undefined where there is none */
export function readTestResult(text: string | undefined): TestResult | undefined {
  const result = jsonObject(text) as Partial<TestResult>;
  return typeof result.id === 'string' && Array.isArray(result.targets) ? (result as TestResult) : undefined;
}

/** @param time RFC 3339 */
export function testFact({ id, by }: TestRequest, time: string): Fact {
  return { id, kind: TEST_KIND, severity: 'info', time, message: `a test of notifications, asked for by ${by}` };
}
