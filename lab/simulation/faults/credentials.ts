import { HOUR, MINUTE, SECOND } from '../units.ts';
import { all, begun, fault, type Kinds, oneOf, ofNode, onProcess, othersOf, processOf } from './kind.ts';

export const credentialFaults: Kinds = {
  'agent-token-expires': ofNode("an agent's token has expired", 2, [30 * SECOND, HOUR], ({ machines }, node) =>
    machines.expireToken(node),
  ),
  'agent-speaks-for-another': fault(
    'an agent asks apiservers in the name of another node, with its own token',
    2,
    [30 * SECOND, 20 * MINUTE],
    (world, terms) => {
      const agent = processOf(world, terms, 'agent');
      const others = othersOf(world, terms, 'agent').filter(({ name }) => name !== agent?.name);
      const other = oneOf(others, terms.random);
      if (!other) return undefined;
      const about = (name: string): string => `${name}, as ${other.name}`;
      return onProcess(agent, ({ name }) => world.network.speakFor(name, other.name), about);
    },
  ),
  'own-token-expires': fault(
    "the Kubernetes API no longer takes a process' own token: 401",
    2,
    [10 * SECOND, 20 * MINUTE],
    (world, terms) => {
      const kind = oneOf(['controller', 'apiserver', 'agent'] as const, terms.random);
      return onProcess(processOf(world, terms, kind), ({ name }) =>
        world.network.carriage.disturb(name, { kind: 'answered', code: 401 }, { path: /^\/apis?\// }),
      );
    },
  ),
  'certificate-expires': fault(
    "an apiserver's certificate, or that of all, has expired: neither agents nor the Kubernetes API connect to it",
    1.5,
    [30 * SECOND, 20 * MINUTE],
    ({ processes, network }, { random }) => {
      const apiservers = processes.filter(({ kind }) => kind === 'apiserver').map(({ name }) => name);
      const one = oneOf(apiservers, random);
      const those = random() < 0.5 && one !== undefined ? [one] : apiservers;
      if (those.length === 0) return undefined;
      return begun(those.join(', '), all(those.map((name) => network.replicas.distrust(name))));
    },
  ),
  'no-token-reviews': fault(
    'the Kubernetes API reviews no tokens: apiservers cannot tell who asks',
    1.5,
    [10 * SECOND, 10 * MINUTE],
    ({ cluster }) =>
      begun(
        'all apiservers',
        cluster.disturb(
          { verbs: ['create'], resource: 'tokenreviews' },
          { kind: 'refuse', code: 500, reason: 'InternalError', message: 'the authenticator is away' },
        ),
      ),
  ),
};
