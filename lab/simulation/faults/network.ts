import { type Moment, MOMENTS } from '../moment-names.ts';
import type { Outcome, Terms, World } from '../types.ts';
import { MINUTE, SECOND } from '../units.ts';
import { all, begun, between, fault, type Kinds, moments, oneOf, onProcess, processOf } from './kind.ts';

/** Whatever passes a network. The API of a host is on the same machine, and has faults of its own. */
const OF_HOSTS = moments('prepare activate reboot-asked locked');
const ON_THE_WIRE = (Object.keys(MOMENTS) as Moment[]).filter((moment) => !OF_HOSTS.includes(moment));

/** A request comes to this: the struck one, or the next few of some process. */
function comesTo(what: string, draw: (random: Terms['random']) => Outcome): Kinds[string] {
  const kind = fault(what, 3, [5 * SECOND, 2 * MINUTE], (world, terms) => {
    const outcome = draw(terms.random);
    const { struck } = terms;
    if (struck && struck.outcome === undefined && terms.random() < 0.7) {
      struck.outcome = outcome;
      return { about: `${struck.process.name}${struck.node ? ` about ${struck.node}` : ''}: ${told(outcome)}` };
    }
    return disturbs(world, terms, outcome);
  });
  return { ...kind, aim: ON_THE_WIRE, phases: ['before'] };
}

/** The next requests of a process. */
function disturbs(world: World, terms: Terms, outcome: Outcome) {
  const count = 1 + Math.floor(terms.random() * 8);
  return onProcess(
    processOf(world, terms),
    ({ name }) => world.network.carriage.disturb(name, outcome, { count }),
    (name) => `${name}, ${count} requests: ${told(outcome)}`,
  );
}

function told(outcome: Outcome): string {
  if (outcome.kind === 'answered') return `${outcome.code}${outcome.byProxy ? ' by a proxy' : ''}`;
  if (outcome.kind === 'hangs') return `hangs, ${outcome.lands ? 'lands' : 'never lands'}`;
  const lands = outcome.lands ? `lands after ${(outcome.lands.afterMs / SECOND).toFixed(1)} s` : 'never lands';
  return `${outcome.code ?? 'no answer'}, ${lands}`;
}

const answered = (code: number, what: string, byProxy = false) =>
  comesTo(what, () => ({ kind: 'answered', code, byProxy }));

function lost(random: () => number, lands: false | { readonly afterMs: number }): Outcome {
  const code = oneOf([undefined, 502, 504] as const, random);
  return { kind: 'lost', lands, ...(code !== undefined && { code }) };
}

/** Parties between which there is a line: who, and the other end. */
function line(world: World, terms: Terms): readonly [string, string] | undefined {
  const process = processOf(world, terms);
  if (!process) return undefined;
  const apiservers = world.processes.filter(({ kind }) => kind === 'apiserver');
  const apiserver = oneOf(apiservers, terms.random);
  const dialsApiserver = process.kind === 'agent' && terms.random() < 0.6;
  return [process.name, dialsApiserver && apiserver ? apiserver.name : 'api'];
}

export const networkFaults: Kinds = {
  'api-409': answered(409, 'the API server answers 409 to a write'),
  'api-403': answered(403, 'the API server refuses a request for good with 403'),
  'api-422': answered(422, 'the API server refuses a request for good with 422'),
  'api-429': answered(429, 'the API server answers 429'),
  'api-500': answered(500, 'the API server answers 500, and nothing is done'),
  'api-503': answered(503, 'the API server answers 503, and nothing is done'),
  'proxy-403': answered(403, 'a proxy answers 403 with a page of its own', true),
  'lost-before': comesTo('a request is lost: no answer, or 502 or 504 of a proxy, and it never lands', (random) =>
    lost(random, false),
  ),
  'lost-answer': comesTo('a write lands, and its answer is lost, or a proxy says 502 or 504', (random) =>
    lost(random, { afterMs: 0 }),
  ),
  'lands-late': comesTo('a write whose answer is lost lands up to two minutes later', (random) =>
    lost(random, { afterMs: between([SECOND, 2 * MINUTE], random) }),
  ),
  hangs: comesTo('a request is never answered, whether it lands or not', (random) => ({
    kind: 'hangs',
    lands: random() < 0.5,
  })),
  partition: fault(
    'no bytes pass between a process and the Kubernetes API, or an agent and an apiserver',
    5,
    [3 * SECOND, 20 * MINUTE],
    (world, terms) => {
      const ends = line(world, terms);
      return ends && begun(`${ends[0]} and ${ends[1]}`, world.network.lines.cut(...ends));
    },
  ),
  outage: fault('nobody reaches the Kubernetes API', 2, [3 * SECOND, 20 * MINUTE], ({ processes, network }) =>
    begun('everybody', all(processes.map(({ name }) => network.lines.cut(name, 'api')))),
  ),
  busy: fault(
    'the Kubernetes API answers 429 to a share of all requests of the operator',
    2,
    [20 * SECOND, 20 * MINUTE],
    ({ processes, network }, { random }) => {
      const share = 0.1 + 0.4 * random();
      const terms = { path: /^\/apis?\//, isStruck: () => random() < share };
      const ends = processes.map(({ name }) => network.carriage.disturb(name, { kind: 'answered', code: 429 }, terms));
      return begun(`${Math.round(share * 100)} %`, all(ends));
    },
  ),
  slow: fault('a process has a slow line, and others overtake it', 5, [20 * SECOND, 20 * MINUTE], (world, terms) => {
    const latencyMs = between([200, 40 * SECOND], terms.random);
    return onProcess(
      processOf(world, terms),
      ({ name }) => world.network.lines.slow(name, latencyMs),
      (name) => `${name}, by ${(latencyMs / SECOND).toFixed(1)} s`,
    );
  }),
};
