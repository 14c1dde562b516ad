import * as z from 'zod';
import { amountOf } from '../../runtime/lib/resource-quantity.ts';
import { quantity } from './fields.ts';

export interface ResourceList {
  /** Processor time, e.g. `10m` or 1. */
  readonly cpu?: string | number | undefined;
  /** e.g. `128Mi` */
  readonly memory?: string | number | undefined;
  /** e.g. `1Gi`. The processes write nothing but their logs. */
  readonly 'ephemeral-storage'?: string | number | undefined;
}

/** Requests and limits of a container. A part that is given replaces its defaults whole, so `limits: {}` means none. */
export interface Resources {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

const NAMES = ['cpu', 'memory', 'ephemeral-storage'] as const satisfies readonly (keyof ResourceList)[];

const resourceList = z.strictObject({
  cpu: quantity.optional(),
  memory: quantity.optional(),
  'ephemeral-storage': quantity.optional(),
} satisfies Record<keyof ResourceList, z.ZodType>);

/** An amount that is none is compared with nothing. */
const HAS_BOTH = {
  when: ({ value }: z.core.ParsePayload) => {
    const { requests, limits } = Object(value) as Partial<Resources>;
    return typeof requests === 'object' && typeof limits === 'object';
  },
};

/** Requests and limits. A request above its limit is refused, as the API server would; the fault names the one that is no default. @internal */
export const resourceProps = (defaults: Required<Resources>) =>
  z
    .strictObject({
      requests: resourceList.default(defaults.requests),
      limits: resourceList.default(defaults.limits),
    } satisfies Record<keyof Resources, z.ZodType>)
    .superRefine(({ requests, limits }, context) => {
      for (const name of NAMES) {
        const { [name]: request } = requests;
        const { [name]: limit } = limits;
        if (request === undefined || limit === undefined || !(amountOf(request) > amountOf(limit))) continue;
        const [part, message] =
          request === defaults.requests[name]
            ? ['limits', `expected no less than the request of ${request}`]
            : ['requests', `expected no more than the limit of ${limit}`];
        context.addIssue({ code: 'custom', path: [part, name], message });
      }
    }, HAS_BOTH)
    .prefault({});
