import { CONTROLLER_LEASE } from '../../../runtime/api/shadow/names.ts';
import { HOUR, MINUTE, SECOND } from '../units.ts';
import { aimedAt, AT_ONCE, begun, fault, type Kinds, moments, ofProcess } from './kind.ts';
import { refuses } from './policies.ts';

const OF_THE_LEASE = moments(
  'permit-taken permit-given-back bump spec-start spec-advance spec-call-off spec-rescue node-touched released status-idle lease-takeover lease-renewal',
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
  'leader-cut-off': ofProcess(
    'the leader no longer reaches the Kubernetes API: another follows it, while what it sent may land',
    6,
    [12 * SECOND, HOUR],
    ({ name }, { network }) => network.lines.cut(name, 'api'),
    'controller',
  ),
});
