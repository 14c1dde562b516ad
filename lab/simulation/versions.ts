import type { Random } from '../../runtime/lib/random.ts';
import { oneOf } from './environment/chance.ts';
import type { PolicySpec } from './policies.ts';

/** What policies of these worlds say of versions, of what a node is worth, and of what has to pass. */

/** A taint, and a condition, by which some call a node unwell. */
export const BROKEN = 'example.com/broken';

/** Kubelets and the control plane say it of each node; it is False or Unknown of one that is not well. */
const isReady = (name: string): PolicySpec => ({ apiVersion: 'v1', kind: 'Node', name, type: 'Ready' });

const VERSIONS: readonly unknown[] = [
  { minAge: '5m' },
  { minAge: '25m' },
  { ignoreWaves: true },
  { max: 'latest', ignoreWaves: null },
  { minAge: '1m', max: null },
];

const UNWELL: readonly unknown[] = [
  [{ taint: BROKEN }],
  [{ condition: BROKEN }],
  [{ condition: BROKEN }, { taint: BROKEN }],
];

/** In half of the policies. The nodes of an `after` are those that have just been updated. */
export function drawVersionTerms(random: Random, { proof }: PolicySpec): PolicySpec {
  if (random() < 0.5) return {};
  const maybe = (share: number, terms: () => PolicySpec): PolicySpec => (random() < share ? terms() : {});
  return {
    ...maybe(0.5, () => ({ onFailure: oneOf(random, ['Rollback', 'Rollback', 'Halt', null]) })),
    ...maybe(0.3, () => ({ version: oneOf(random, VERSIONS) })),
    ...maybe(0.5, () => ({ unwell: oneOf(random, UNWELL) })),
    ...maybe(0.2, () => ({ approval: 'Required' })),
    ...maybe(0.25, () => ({ proof: { ...(proof as PolicySpec | undefined), checks: [drawCheck(random, 'node-1')] } })),
    ...maybe(0.2, () => ({ checks: { [oneOf(random, ['before', 'after'])]: [drawCheck(random, '{{nodes}}')] } })),
  };
}

function drawCheck(random: Random, node: string): PolicySpec {
  return {
    name: 'ready',
    condition: isReady(node),
    timeout: oneOf(random, ['1m', '5m', null]),
    retries: oneOf(random, [0, 1, null]),
    unknown: oneOf(random, ['Wait', 'Fail', 'Pass', null]),
  };
}
