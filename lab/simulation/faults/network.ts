import type { Moment } from '../moment-names.ts';
import type { Outcome, World } from '../types.ts';
import {
  all,
  begun,
  between,
  type DrawnKind,
  MINUTE,
  oneOf,
  onProcess,
  processOf,
  SECOND,
  type Terms,
} from './kind.ts';

/** Requests that write to the Kubernetes API. */
const WRITES: readonly Moment[] = [
  'permit-taken',
  'permit-given-back',
  'bump',
  'spec-start',
  'spec-advance',
  'spec-call-off',
  'spec-rescue',
  'drain-announced',
  'cordon',
  'eviction',
  'drained',
  'node-touched',
  'released',
  'status-staged',
  'reboot-recorded',
  'status-rebooted',
  'status-idle',
  'status-error-reset',
  'shadow-created',
  'shadow-deleted',
  'condition',
  'lease-takeover',
  'lease-renewal',
];

/** Whatever passes a network: the agents' requests to the apiservers, too. */
const ON_THE_WIRE: readonly Moment[] = [...WRITES, 'drain-asked', 'release-asked', 'status-sent'];

/** A request comes to this: the struck one, or the next few of some process. */
function comesTo(name: string, what: string, draw: (terms: Terms) => Outcome): DrawnKind {
  return {
    name,
    what,
    weight: 3,
    lasts: [5 * SECOND, 2 * MINUTE],
    aim: ON_THE_WIRE,
    phases: ['before'],
    begin: (world, terms) => {
      const outcome = draw(terms);
      const { struck } = terms;
      if (struck && struck.outcome === undefined && terms.random() < 0.7) {
        struck.outcome = outcome;
        return { about: `${struck.process.name}${struck.node ? ` about ${struck.node}` : ''}: ${told(outcome)}` };
      }
      return disturbs(world, terms, outcome);
    },
  };
}

/** The next requests of a process. */
function disturbs(world: World, terms: Terms, outcome: Outcome) {
  const count = 1 + Math.floor(terms.random() * 8);
  return onProcess(
    processOf(world, terms),
    ({ name }) => world.network.disturb(name, outcome, { count }),
    (name) => `${name}, ${count} requests: ${told(outcome)}`,
  );
}

function told(outcome: Outcome): string {
  if (outcome.kind === 'answered') return `${outcome.code}${outcome.byProxy ? ' by a proxy' : ''}`;
  if (outcome.kind === 'hangs') return `hangs, ${outcome.lands ? 'lands' : 'never lands'}`;
  const lands = outcome.lands ? `lands after ${(outcome.lands.afterMs / SECOND).toFixed(1)} s` : 'never lands';
  return `${outcome.code ?? 'no answer'}, ${lands}`;
}

const answered = (code: number, what: string, byProxy = false): DrawnKind =>
  comesTo(`${byProxy ? 'proxy' : 'api'}-${code}`, what, () => ({ kind: 'answered', code, byProxy }));

const BROKEN_OR_504 = [undefined, 502, 504] as const;

function lost(random: () => number, lands: false | { readonly afterMs: number }): Outcome {
  const code = oneOf(BROKEN_OR_504, random);
  return { kind: 'lost', lands, ...(code !== undefined && { code }) };
}

const OUTCOMES: readonly DrawnKind[] = [
  answered(409, 'the API server answers 409 to a write'),
  answered(403, 'the API server refuses a request for good with 403'),
  answered(422, 'the API server refuses a request for good with 422'),
  answered(429, 'the API server answers 429'),
  answered(500, 'the API server answers 500, and nothing is done'),
  answered(503, 'the API server answers 503, and nothing is done'),
  answered(403, 'a proxy answers 403 with a page of its own', true),
  comesTo('lost-before', 'a request is lost: no answer, or 502 or 504 of a proxy, and it never lands', ({ random }) =>
    lost(random, false),
  ),
  comesTo('lost-answer', 'a write lands, and its answer is lost, or a proxy says 502 or 504', ({ random }) =>
    lost(random, { afterMs: 0 }),
  ),
  comesTo('lands-late', 'a write whose answer is lost lands up to two minutes later', ({ random }) =>
    lost(random, { afterMs: between([SECOND, 2 * MINUTE], random) }),
  ),
  comesTo('hangs', 'a request is never answered, whether it lands or not', ({ random }) => ({
    kind: 'hangs',
    lands: random() < 0.5,
  })),
];

/** Parties between which there is a line: who, and the other end. */
function line(world: World, terms: Terms): readonly [string, string] | undefined {
  const process = processOf(world, terms);
  if (!process) return undefined;
  const apiserver = oneOf(
    world.processes.filter(({ kind }) => kind === 'apiserver'),
    terms.random,
  );
  const dialsApiserver = process.kind === 'agent' && terms.random() < 0.6;
  return [process.name, dialsApiserver && apiserver ? apiserver.name : 'api'];
}

const LINES: readonly DrawnKind[] = [
  {
    name: 'partition',
    what: 'no bytes pass between a process and the Kubernetes API, or an agent and an apiserver',
    weight: 5,
    lasts: [3 * SECOND, 20 * MINUTE],
    begin: (world, terms) => {
      const ends = line(world, terms);
      return ends && begun(`${ends[0]} and ${ends[1]}`, world.network.partition(...ends));
    },
  },
  {
    name: 'outage',
    what: 'nobody reaches the Kubernetes API',
    weight: 2,
    lasts: [3 * SECOND, 20 * MINUTE],
    begin: ({ processes, network }) =>
      begun('everybody', all(processes.map(({ name }) => network.partition(name, 'api')))),
  },
  {
    name: 'busy',
    what: 'the Kubernetes API answers 429 to a share of all requests of the operator',
    weight: 2,
    lasts: [20 * SECOND, 20 * MINUTE],
    begin: ({ processes, network }, { random }) => {
      const share = 0.1 + 0.4 * random();
      const terms = { path: /^\/apis?\//, isStruck: () => random() < share };
      const busy = { kind: 'answered', code: 429 } as const;
      return begun(
        `${Math.round(share * 100)} %`,
        all(processes.map(({ name }) => network.disturb(name, busy, terms))),
      );
    },
  },
  {
    name: 'slow',
    what: 'a process has a slow line, and others overtake it',
    weight: 5,
    lasts: [20 * SECOND, 20 * MINUTE],
    begin: (world, terms) => {
      const latencyMs = between([200, 40 * SECOND], terms.random);
      return onProcess(
        processOf(world, terms),
        ({ name }) => world.network.slow(name, latencyMs),
        (name) => `${name}, by ${(latencyMs / SECOND).toFixed(1)} s`,
      );
    },
  },
];

export const networkFaults: readonly DrawnKind[] = [...OUTCOMES, ...LINES];
