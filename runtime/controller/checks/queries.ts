import * as z from 'zod';
import type { QueryCheck } from '../../api/policy/checks.ts';
import { jsonObject } from '../../lib/json.ts';
import type { CheckAnswer, CheckTry } from '../plan/facts/checks.ts';
import { exchange, type Reply } from '../telling/notifications/exchange.ts';
import { type Asked, filledIn, unknown } from './subject.ts';

type QueryTry = CheckTry & { readonly check: QueryCheck };

const sample = z.tuple([z.number(), z.string()]);
const answered = z.object({
  status: z.literal('success'),
  data: z.discriminatedUnion('resultType', [
    z.object({ resultType: z.literal('vector'), result: z.array(z.object({ value: sample })) }),
    z.object({ resultType: z.literal('scalar'), result: sample }),
  ]),
});

/** One instant query. @see https://prometheus.io/docs/prometheus/latest/querying/api/#instant-queries */
export async function askPrometheus(
  { prometheusUrl, clock }: Asked,
  one: QueryTry,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  if (prometheusUrl === '') return unknown('PROMETHEUS_URL is not set');
  const url = new URL(`${prometheusUrl.replace(/\/$/, '')}/api/v1/query`);
  const body = new URLSearchParams({ query: filledIn(one.check.query, one) }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  try {
    return answerIn(await exchange({ method: 'POST', url, headers, body }, { clock, signal }), one.check);
  } catch (error) {
    return unknown(`Prometheus gives no answer (${(error as NodeJS.ErrnoException).code ?? (error as Error).name})`);
  }
}

function answerIn({ status, body }: Reply, check: QueryCheck): CheckAnswer {
  if (status !== 200) return unknown(`Prometheus answers ${status}: ${errorIn(body)}`);
  const { data: { data } = {} } = answered.safeParse(jsonObject(body));
  if (!data) return unknown('what Prometheus answers is no instant vector and no scalar');
  const samples = data.resultType === 'scalar' ? [data.result] : data.result.map(({ value }) => value);
  return answerBy(
    samples.map(([, text]) => numberOf(text)),
    check,
  );
}

/** Of several values each has to be within the bounds. A value that is no number says nothing. */
function answerBy(values: readonly number[], { above, below }: QueryCheck): CheckAnswer {
  if (values.length === 0) return unknown('the query gives no data');
  if (values.some((value) => Number.isNaN(value))) return unknown('the query gives a value that is no number');
  const outside = values.find((value) => !(value > (above ?? -Infinity) && value < (below ?? Infinity)));
  if (outside === undefined) return { kind: 'passed', message: `the query gives ${values.slice(0, 3).join(', ')}` };
  const bounds = Object.entries({ above, below }).flatMap(([word, bound]) =>
    bound === undefined ? [] : `${word} ${bound}`,
  );
  return { kind: 'failed', message: `the query gives ${outside}, expected ${bounds.join(' and ')}` };
}

const INFINITE: Readonly<Record<string, number>> = { '+Inf': Infinity, '-Inf': -Infinity };
const numberOf = (text: string): number => INFINITE[text] ?? Number(text === '' ? NaN : text);

function errorIn(body: string): string {
  const { error } = jsonObject(body) as { readonly error?: unknown };
  return typeof error === 'string' ? error : 'it does not say why';
}
