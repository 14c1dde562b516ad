import { z } from 'zod';
import { quantity } from './fields.ts';

export interface Amounts {
  /** Processor time, e.g. `10m`. */
  readonly cpu?: string;
  /** e.g. `128Mi` */
  readonly memory?: string;
}

export interface Resources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Quantity suffixes of Kubernetes, as factors. */
const FACTORS: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const NAMES = ['cpu', 'memory'] as const satisfies readonly (keyof Amounts)[];

const amounts = z.strictObject({
  cpu: quantity.optional(),
  memory: quantity.optional(),
} satisfies Record<keyof Amounts, z.ZodType>);

/** Requests and limits; a request above its limit is refused, as the API server would. */
export const resourceProps = z
  .strictObject({ requests: amounts, limits: amounts } satisfies Record<keyof Resources, z.ZodType>)
  .superRefine(({ requests, limits }, context) => {
    for (const name of NAMES) {
      const limit = limits[name];
      if (limit === undefined || valueOf(requests[name] ?? '0') <= valueOf(limit)) continue;
      const message = `expected no more than the limit of ${limit}`;
      context.addIssue({ code: 'custom', path: ['requests', name], message });
    }
  });

function valueOf(text: string): number {
  const suffix = /[A-Za-z]i?$/.exec(text)?.[0] ?? '';
  return Number.parseFloat(text) * (FACTORS[suffix] ?? 1);
}
