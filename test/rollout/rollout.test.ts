import { expect, test } from '@jest/globals';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { AuditEntry } from '../../lab/sim/cluster/cluster.ts';
import type { Rollout } from '../../lab/sim/rollout.ts';
import type { Manifest } from '../../lab/sim/world/manifests.ts';
import { isOver, until, withRollout } from './support.ts';

/** Rollouts with real processes on an embedded cluster, at fifty times the speed of life. */

/** A rollout in which no process may ask for anything that its role lacks, whatever befalls it. */
function permittedRollout(request: Parameters<typeof withRollout>[0], use: (rollout: Rollout) => Promise<void>) {
  return withRollout(request, async (rollout) => {
    await use(rollout);
    expect(rollout.world.cluster.audit.filter(({ code }) => code === 403)).toEqual([]);
  });
}

/** Resolves when a node is being drained that was not yet, and says which. */
async function nextDrain(rollout: Rollout, before: ReadonlySet<string>): Promise<string> {
  const next = (): string | undefined =>
    [...rollout.recorder.shadows].find(([name, { status }]) => status?.drain && !before.has(name))?.[0];
  await until(rollout, () => next() !== undefined);
  return next()!;
}

test('three nodes go over one after the other, without a trace, though each kind of process is killed in mid-drain', () =>
  permittedRollout({}, async (rollout) => {
    const { recorder, world } = rollout;
    const drained = new Set<string>();
    for (const component of ['brupop-controller', 'apiserver', 'agent']) {
      drained.add(await nextDrain(rollout, drained));
      const pids = world.pods.pids(component);
      expect(pids.length).toBeGreaterThan(0);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
    }
    await isOver(rollout);
    expect(rollout.summary().faults).toEqual([]);
    expect(recorder.mostCordoned).toBe(1);
    expect([...recorder.updates.keys()].toSorted()).toEqual(['node-1', 'node-2', 'node-3']);
    expect(world.evictions()).toBeGreaterThan(0);
  }));

interface Requests {
  /** In all, without the leader's Lease and a controller's start. */
  readonly together: number;
  /** Of these, what the controller reads live before it starts a node or gives its permit back. */
  readonly looks: number;
  /** Of these, by account and kind. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** What the operator's accounts asked of the API server since `first`, for each of the nodes. */
function requestsOf({ world }: Rollout, first: number, nodes: number): Requests {
  const own = world.cluster.audit.slice(first).filter(({ user }) => user.startsWith(ACCOUNTS));
  const isController = ({ user }: AuditEntry): boolean => user.includes('controller');
  const isStart = (entry: AuditEntry): boolean => isController(entry) && ['list', 'watch'].includes(entry.verb);
  const counted = own.filter((entry) => entry.resource !== 'leases' && !isStart(entry));
  const each = (entries: readonly AuditEntry[]): number => entries.length / nodes;
  const kinds = [...Map.groupBy(counted, kindOf)].map(([kind, of]) => [kind, each(of)] as const);
  return {
    together: each(counted),
    looks: each(counted.filter((entry) => isController(entry) && entry.verb === 'get')),
    kinds: Object.fromEntries(kinds.toSorted(([a], [b]) => a.localeCompare(b))),
  };
}

const ACCOUNTS = `system:serviceaccount:${NAMESPACE}:`;
const kindOf = ({ user, verb, resource, subresource, code }: AuditEntry): string =>
  [user.slice(ACCOUNTS.length), verb, resource, subresource, code >= 300 ? code : undefined].filter(Boolean).join(' ');

test('twelve nodes, four at a time: never more than four are cordoned, and an update costs at most 76 requests besides looks', () =>
  permittedRollout({ options: { nodes: 12, concurrency: '4' } }, async (rollout) => {
    const { recorder, world } = rollout;
    await until(rollout, () =>
      [...recorder.shadows.values()].some(({ status }) => status?.target_version === '1.39.0'),
    );
    const first = world.cluster.audit.length;
    await isOver(rollout);
    expect(rollout.summary().faults).toEqual([]);
    expect(recorder.mostCordoned).toBeGreaterThan(1);
    expect(recorder.mostCordoned).toBeLessThanOrEqual(4);
    const { together, looks, kinds } = requestsOf(rollout, first, 12);
    // Where it is too many, this names them.
    expect(together - looks <= 76 ? {} : kinds).toEqual({});
  }));

test('a node of interface 1.0.0 that is relabelled in mid-drain ends by its host’s API the update that updog began', () =>
  permittedRollout({ options: { nodes: 1, hosts: ['updog'] } }, async (rollout) => {
    const { recorder, world } = rollout;
    await nextDrain(rollout, new Set());
    const metadata = { labels: { [MANAGED_LABEL]: MANAGED_LABEL_VALUE } };
    await world.transport.request({
      method: 'PATCH',
      path: '/api/v1/nodes/node-1',
      body: { metadata },
      contentType: 'application/merge-patch+json',
    });
    await isOver(rollout);
    expect(rollout.summary().faults).toEqual([]);
    const { host } = world.nodes.get('node-1')!;
    expect(host.intervals.filter(({ action }) => action === 'reboot')).toHaveLength(1);
    expect([host.requests.get('updog update-image'), host.requests.get('POST /actions/reboot')]).toEqual([1, 1]);
    expect([...recorder.updates.keys()]).toEqual(['node-1']);
  }));

test('without the right to evict the rollout fails, with the API server’s own words', () =>
  withRollout({ options: { nodes: 1 }, edit: withoutEviction }, async (rollout) => {
    await isOver(rollout);
    const [fault] = rollout.summary().faults;
    expect(fault).toMatch(/^node-1 runs 1\.38\.0, not 1\.39\.0: DrainFailed on 1\.39\.0/);
    expect(fault).toContain('brupop-apiserver-service-account" cannot create resource "pods/eviction" in API group ""');
  }));

interface RoleManifest extends Manifest {
  readonly rules: readonly { readonly resources: readonly string[] }[];
}

/** Takes the right to evict from the apiserver, and patience from its drains. */
function withoutEviction(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.map((manifest) => {
    if (manifest.metadata.name === 'brupop-apiserver-role' && manifest.kind === 'ClusterRole') {
      const { rules } = manifest as RoleManifest;
      return { ...manifest, rules: rules.filter(({ resources }) => !resources.includes('pods/eviction')) };
    }
    return manifest.kind === 'Deployment' ? withDrainTimeout(manifest) : manifest;
  });
}

function withDrainTimeout(deployment: Manifest): Manifest {
  const text = JSON.stringify(deployment);
  return JSON.parse(text.replace(/("name":"DRAIN_TIMEOUT_IN_SEC","value":)"\d+"/, '$1"2"')) as Manifest;
}
