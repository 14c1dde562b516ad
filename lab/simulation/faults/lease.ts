import { CONTROLLER_LEASE } from '../../../runtime/api/shadow/names.ts';
import type { Moment } from '../moment-names.ts';
import { begun, aimedAt, HOUR, MINUTE, onProcess, processOf, SECOND } from './kind.ts';

const OF_THE_LEASE: readonly Moment[] = [
  'permit-taken',
  'permit-given-back',
  'bump',
  'spec-start',
  'spec-advance',
  'spec-call-off',
  'spec-rescue',
  'node-touched',
  'released',
  'status-idle',
  'lease-takeover',
  'lease-renewal',
];

export const leaseFaults = aimedAt(OF_THE_LEASE, [
  {
    name: 'lease-annotated',
    what: 'others write an annotation to the Lease',
    weight: 4,
    lasts: [SECOND, SECOND],
    begin: ({ environment }) => begun('the Lease', environment.people.annotateLease()),
  },
  {
    name: 'lease-stolen',
    what: 'somebody else is written into the Lease as its holder',
    weight: 4,
    lasts: [SECOND, SECOND],
    begin: ({ environment }) => begun('the Lease', environment.people.stealLease()),
  },
  {
    name: 'lease-refused',
    what: 'a policy refuses each write of the Lease with 403',
    weight: 1.5,
    lasts: [5 * SECOND, 5 * MINUTE],
    begin: ({ cluster }) =>
      begun(
        'the Lease',
        cluster.disturb(
          { verbs: ['update', 'patch'], resource: 'leases', name: CONTROLLER_LEASE },
          { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'a policy says no' },
        ),
      ),
  },
  {
    name: 'leader-cut-off',
    what: 'the leader no longer reaches the Kubernetes API: another follows it, while what it sent may land',
    weight: 6,
    lasts: [12 * SECOND, HOUR],
    begin: (world, terms) =>
      onProcess(processOf(world, terms, 'controller'), ({ name }) => world.network.partition(name, 'api')),
  },
]);
