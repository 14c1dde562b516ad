import type { ControllerConfig } from '../../controller/config.ts';
import type { Workload } from '../../kube/objects.ts';
import { CONTROLLER_DEPLOYMENT } from '../../api/shadow/names.ts';
import type { Cluster } from '../command.ts';
import { workloadsOf } from '../deployed-settings.ts';

export interface Part {
  readonly name: string;
  /** In the plural, as the API has it. */
  readonly kind: 'deployments' | 'daemonsets';
  /** Undefined where the cluster has none. */
  readonly workload: Workload | undefined;
}

const UPDOG_AGENT = 'brupop-agent-updog';
const K3OS_AGENT = 'brupop-agent-k3os';

const PARTS = [
  [CONTROLLER_DEPLOYMENT, 'deployments'],
  ['brupop-apiserver', 'deployments'],
  ['brupop-agent', 'daemonsets'],
  [UPDOG_AGENT, 'daemonsets'],
  [K3OS_AGENT, 'daemonsets'],
] as const;

/** The parts that this operator has or, by its settings, should have. */
export async function partsOf(cluster: Cluster, config?: ControllerConfig): Promise<readonly Part[]> {
  const read = PARTS.map(async ([name, kind]) => ({
    name,
    kind,
    workload: await workloadsOf(cluster, kind).get(name),
  }));
  const isUnasked = new Map<string, boolean>([
    [UPDOG_AGENT, config?.INTERFACE_V1 !== true],
    [K3OS_AGENT, !config?.K3OS_NAMESPACE],
  ]);
  return (await Promise.all(read)).filter(({ name, workload }) => workload || !isUnasked.get(name));
}
