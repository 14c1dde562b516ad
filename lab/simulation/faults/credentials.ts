import type { Outcome } from '../types.ts';
import {
  all,
  begun,
  type DrawnKind,
  HOUR,
  MINUTE,
  oneOf,
  onNode,
  othersOf,
  onProcess,
  processOf,
  SECOND,
} from './kind.ts';

const UNAUTHORIZED: Outcome = { kind: 'answered', code: 401 };

export const credentialFaults: readonly DrawnKind[] = [
  {
    name: 'agent-token-expires',
    what: "an agent's token has expired",
    weight: 2,
    lasts: [30 * SECOND, HOUR],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.machines.expireToken(node)),
  },
  {
    name: 'agent-speaks-for-another',
    what: 'an agent asks apiservers in the name of another node, with its own token',
    weight: 2,
    lasts: [30 * SECOND, 20 * MINUTE],
    begin: (world, terms) => {
      const agent = processOf(world, terms, 'agent');
      const other = oneOf(
        othersOf(world, terms, 'agent').filter(({ name }) => name !== agent?.name),
        terms.random,
      );
      if (!other) return undefined;
      const about = (name: string): string => `${name}, as ${other.name}`;
      return onProcess(agent, ({ name }) => world.network.speakFor(name, other.name), about);
    },
  },
  {
    name: 'own-token-expires',
    what: "the Kubernetes API no longer takes a process' own token: 401",
    weight: 2,
    lasts: [10 * SECOND, 20 * MINUTE],
    begin: (world, terms) => {
      const kind = oneOf(['controller', 'apiserver', 'agent'] as const, terms.random);
      return onProcess(processOf(world, terms, kind), ({ name }) =>
        world.network.disturb(name, UNAUTHORIZED, { path: /^\/apis?\// }),
      );
    },
  },
  {
    name: 'certificate-expires',
    what: "an apiserver's certificate, or that of all, has expired: neither agents nor the Kubernetes API connect to it",
    weight: 1.5,
    lasts: [30 * SECOND, 20 * MINUTE],
    begin: (world, { random }) => {
      const apiservers = world.processes.filter(({ kind }) => kind === 'apiserver').map(({ name }) => name);
      const one = oneOf(apiservers, random);
      const those = random() < 0.5 && one !== undefined ? [one] : apiservers;
      return those.length === 0
        ? undefined
        : begun(those.join(', '), all(those.map((name) => world.network.distrust(name))));
    },
  },
  {
    name: 'no-token-reviews',
    what: 'the Kubernetes API reviews no tokens: apiservers cannot tell who asks',
    weight: 1.5,
    lasts: [10 * SECOND, 10 * MINUTE],
    begin: ({ cluster }) =>
      begun(
        'all apiservers',
        cluster.disturb(
          { verbs: ['create'], resource: 'tokenreviews' },
          { kind: 'refuse', code: 500, reason: 'InternalError', message: 'the authenticator is away' },
        ),
      ),
  },
];
