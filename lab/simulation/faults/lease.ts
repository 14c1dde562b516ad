import { CONTROLLER_LEASE } from '../../../runtime/api/shadow/names.ts';
import { HOUR, MINUTE, SECOND } from '../units.ts';
import { aimedAt, AT_ONCE, begun, fault, type Kinds, moments, ofProcess } from './kind.ts';
import { refuses } from './policies.ts';

const OF_THE_LEASE = moments(
  'permit-taken permit-given-back bump spec-start spec-advance spec-call-off spec-rescue node-touched released status-idle lease-takeover lease-renewal list-made',
);

export const leaseFaults: Kinds = aimedAt(OF_THE_LEASE, {
  'lease-annotated': fault('others write an annotation to the Lease', 4, AT_ONCE, ({ environment }) =>
    begun('the Lease', environment.people.annotateLease()),
  ),
  'lease-stolen': fault('somebody else is written into the Lease as its holder', 4, AT_ONCE, ({ environment }) =>
    begun('the Lease', environment.people.stealLease()),
  ),
  'lease-refused': fault(
    'a policy refuses each write of the Lease with 403',
    1.5,
    [5 * SECOND, 5 * MINUTE],
    ({ cluster }) => begun('the Lease', refuses(cluster, { resource: 'leases', name: CONTROLLER_LEASE })),
  ),
  'permits-taken-off': fault('somebody takes the list of permits off the Lease', 2, AT_ONCE, ({ environment }) =>
    begun('the Lease', environment.people.writePermits(null)),
  ),
  'permits-overwritten': fault('somebody writes an empty list of permits to the Lease', 1, AT_ONCE, ({ environment }) =>
    begun('the Lease', environment.people.writePermits('[]')),
  ),
  'permits-unreadable': fault(
    'somebody writes what is no list in place of the permits, and takes it off later',
    1,
    [5 * SECOND, 10 * MINUTE],
    ({ environment: { people } }) => {
      people.writePermits('none');
      return begun('the Lease', () => people.writePermits(null));
    },
  ),
  'lease-deleted': fault('somebody deletes the Lease', 1, AT_ONCE, ({ environment }) =>
    begun('the Lease', environment.people.deleteLease()),
  ),
  'leader-cut-off': ofProcess(
    'the leader no longer reaches the Kubernetes API: another follows it, while what it sent may land',
    6,
    [12 * SECOND, HOUR],
    ({ name }, { network }) => network.lines.cut(name, 'api'),
    'controller',
  ),
});
