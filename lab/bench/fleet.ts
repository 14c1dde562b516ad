import { Stage } from '../../test/controller/stage.ts';

interface FleetOptions {
  readonly nodes: number;
  /** Of each Node, as JSON. */
  readonly nodeBytes: number;
  /** How many of them, from the first on, are offered a newer version. @default none */
  readonly behind?: number;
}

/** A fleet of which all is said that a controller says. No controller runs. */
export async function largeFleet({ nodes, nodeBytes, behind = 0 }: FleetOptions): Promise<Stage> {
  const stage = await Stage.with();
  const annotations = { filler: 'x'.repeat(nodeBytes - 1024) };
  for (let index = 0; index < nodes; index++) {
    const name = `n${index}`;
    await stage.join(name);
    await stage.patch(`/api/v1/nodes/${name}`, { metadata: { annotations, labels: eksLabels(index) } });
    const version = index < behind ? {} : { current_version: '1.1.0' };
    await stage.report(name, { ...version, conditions: [CONDITION] });
  }
  return stage;
}

/** As many as a node of a managed node group has, and what teams add to them: 25 with the operator's own. */
function eksLabels(index: number): Readonly<Record<string, string>> {
  const zone = `eu-central-1${'abc'[index % 3]}`;
  const type = 'm5.2xlarge';
  return {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': type,
    'beta.kubernetes.io/os': 'linux',
    'eks.amazonaws.com/capacityType': 'ON_DEMAND',
    'eks.amazonaws.com/nodegroup': `workers-${index % 12}`,
    'eks.amazonaws.com/nodegroup-image': `ami-0c1d2e3f4a5b6c7d${index % 3}`,
    'eks.amazonaws.com/sourceLaunchTemplateId': `lt-0123456789abcde${index % 12}`,
    'eks.amazonaws.com/sourceLaunchTemplateVersion': '7',
    'failure-domain.beta.kubernetes.io/region': 'eu-central-1',
    'failure-domain.beta.kubernetes.io/zone': zone,
    'k8s.io/cloud-provider-aws': 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': `ip-10-${index >> 8}-${index & 255}-17.eu-central-1.compute.internal`,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': type,
    'topology.ebs.csi.aws.com/zone': zone,
    'topology.k8s.aws/zone-id': `euc1-az${1 + (index % 3)}`,
    'topology.kubernetes.io/region': 'eu-central-1',
    'topology.kubernetes.io/zone': zone,
    'example.com/team': `team-${index % 20}`,
    'example.com/environment': index % 4 ? 'production' : 'test',
    'example.com/cost-center': `cc-${index % 40}`,
    'example.com/rack': `rack-${index % 200}`,
    'example.com/pool': `pool-${index % 8}`,
  };
}

/** As the controller writes it, so that it has nothing left to write. */
const CONDITION = {
  type: 'UpToDate',
  status: 'True',
  reason: 'UpToDate',
  message: 'the node runs the newest version that it is offered',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;
