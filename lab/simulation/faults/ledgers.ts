import type { Outcome, Terms, World } from '../types.ts';
import { HOUR, MINUTE, SECOND } from '../units.ts';
import { aimedAt, all, begun, between, fault, type Kinds, moments, oneOf } from './kind.ts';
import { hangs } from './policies.ts';

/** Where a ledger has to say something before anything goes on. */
const REMEMBERS = moments(
  'ledger-made failure-entered spec-start prepare reboot-asked status-rebooted status-idle status-error-reset permit-given-back lease-takeover',
);

const LEDGERS = /\/bottlerocketreleases(\/|$)/;
/** Rights are given for each of these: what is created, a status, and what is deleted. */
const METHODS = ['POST', 'PATCH', 'DELETE'] as const;

/** Controllers' writes of the ledgers of releases come to this. What people say of releases is let through. */
function writes({ network, processes }: World, outcome: Outcome, methods: readonly string[]): () => void {
  const controllers = processes.filter(({ kind }) => kind === 'controller');
  return all(
    controllers.flatMap(({ name }) =>
      methods.map((method) => network.carriage.disturb(name, outcome, { method, path: LEDGERS })),
    ),
  );
}

const some = ({ random }: Terms): readonly string[] => oneOf([['POST'], ['PATCH'], METHODS], random) ?? METHODS;

const answered = (code: number, what: string, lasts: readonly [number, number]) =>
  fault(what, 2, lasts, (world, terms) => {
    const methods = some(terms);
    return begun(methods.join(', '), writes(world, { kind: 'answered', code }, methods));
  });

export const ledgerFaults: Kinds = aimedAt(REMEMBERS, {
  'ledger-refused': answered(403, 'controllers may not write the ledgers of releases: 403', [5 * SECOND, HOUR]),
  'ledger-fails': answered(500, 'the API server answers 500 to each write of a ledger', [5 * SECOND, 20 * MINUTE]),
  'ledger-lands-late': fault(
    'writes of ledgers land minutes later, and their answers are lost',
    2,
    [10 * SECOND, 10 * MINUTE],
    (world, terms) => {
      const afterMs = between([SECOND, 5 * MINUTE], terms.random);
      const outcome: Outcome = { kind: 'lost', lands: { afterMs } };
      return begun(`by ${(afterMs / SECOND).toFixed(1)} s`, writes(world, outcome, METHODS));
    },
  ),
  'ledger-hangs': fault(
    'writes of ledgers hang, and land when all is over',
    1.5,
    [3 * SECOND, 90 * SECOND],
    ({ cluster }) => begun('all ledgers', hangs(cluster, { resource: 'bottlerocketreleases', subresource: 'status' })),
  ),
});
