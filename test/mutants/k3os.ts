import type { Mutant } from './mutant.ts';

const GATES = 'runtime/controller/plan/gates.ts';
const NO_K3OS = 'the simulation has no hosts that are told what to run';
/** What k3OS nodes are ordered. */
export const k3osMutants: readonly Mutant[] = [
  {
    rule: 'P10',
    does: 'starts nodes while the channel shows whose turn it is to ask',
    unseen: NO_K3OS,
    file: 'runtime/k3os/offer.ts',
    find: 'release && answer && !isPolled',
    replace: 'release && answer',
    tests: ['test/k3os/offer.test.ts'],
  },
  {
    rule: 'P10',
    does: 'asks a source before the channel shows whose turn it is',
    unseen: NO_K3OS,
    file: 'runtime/controller/k3os/keeper.ts',
    find: ' || channel.object.status?.polling !== polling',
    replace: '',
    tests: ['test/controller/k3os/channels.test.ts'],
  },
  {
    rule: 'P10',
    does: 'does not say with an order which release it means',
    unseen: NO_K3OS,
    file: 'runtime/controller/plan/starts.ts',
    find: '...shadow.order?.annotations,',
    replace: '',
    tests: ['test/controller/k3os/channels.test.ts'],
  },
  {
    rule: 'P10',
    does: 'brings a channel back in the middle of the update that its deletion was to stop',
    unseen: NO_K3OS,
    file: 'runtime/k3os/status.ts',
    find: ' || nodes.some(({ updating }) => updating)',
    replace: '',
    tests: ['test/k3os/status.test.ts'],
  },
  {
    rule: 'P10',
    does: 'keeps a slot for what is staged and no channel names any more',
    unseen: NO_K3OS,
    file: 'runtime/controller/k3os/host-order.ts',
    find: "stop ?? stopBy('call-off', NO_CHANNEL)",
    replace: "stop ?? stopBy('wait', NO_CHANNEL)",
    tests: ['test/controller/k3os/deletion.test.ts'],
  },
  {
    rule: 'L8',
    does: 'goes on with a version that a host is no longer ordered to run',
    unseen: NO_K3OS,
    file: GATES,
    find: 'if (version === undefined || order.version === version) return PASS;',
    replace: 'if (order.version !== undefined) return PASS;',
    tests: ['test/controller/k3os/channels.test.ts'],
  },
];
