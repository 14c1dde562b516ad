import { expect, test } from '@jest/globals';
import { aborted } from '../../runtime/lib/abort.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../runtime/api/shadow/names.ts';
import { TOLERATION } from './drain-world.ts';
import { eventually } from './eventually.ts';
import { alone, asleep, evicts } from './replica.ts';
import { play, stage } from './stage.ts';
import { addClaim, useVolumes } from './volumes.ts';

const on = stage();

const NEVER = new AbortController().signal;

/** A pod of the operator's own. */
const controller = () => ({
  namespace: on.world.names.operator,
  labels: { [COMPONENT_LABEL]: COMPONENTS.controller },
});
const claimed = (name: string): object => ({ name, persistentVolumeClaim: { claimName: name } });
const TOLERATES_ALL = { tolerations: [{ operator: 'Exists' }] };

/** A pod of a DaemonSet, made by its controller; its name. */
async function addDaemon(): Promise<string> {
  const { cluster, world } = on;
  const labels = { app: 'daemon' };
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchFields: [{ key: 'metadata.name', operator: 'In', values: [world.names.nodeName] }] },
        ],
      },
    },
  };
  await cluster.admin.patch(`/api/v1/nodes/${world.names.nodeName}/status`, {
    status: { allocatable: { pods: '10' } },
  });
  await cluster.admin.create(`/apis/apps/v1/namespaces/${world.names.namespace}/daemonsets`, {
    metadata: { name: 'daemon' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { affinity, tolerations: [TOLERATION], containers: [{ name: 'main', image: 'daemon' }] },
      },
    },
  });
  return eventually(async () => {
    const { items } = await cluster.admin.list('/api/v1/pods', {
      fieldSelector: `spec.nodeName=${world.names.nodeName}`,
    });
    expect(items).toHaveLength(1);
    return items[0]!.metadata.name;
  });
}

/** Once a pod that is made from now on is younger, by whole seconds, than every pod that was there at the cordon. */
async function laterThanItsBeginning(): Promise<void> {
  await eventually(async () => {
    const since = Date.parse((await on.world.marks())?.since ?? '');
    expect(systemClock.now() - since).toBeGreaterThan(1_000);
  });
}

play('a drain', {
  'of an empty node cordons it, marks it and proves it empty': async () => {
    await on.world.replica().drain();
    expect(await on.world.isCordoned()).toBe(true);
    expect(await on.world.marks()).toMatchObject({
      boot: 'boot-1',
      drained: expect.stringMatching(/Z$/),
      owns: ['cordon', 'cluster-autoscaler', 'karpenter'],
    });
    expect(await on.world.progress()).toMatchObject({ pods_left: 0, blocked_by: [] });
  },

  'evicts the pods of its node and ends as the last of them goes': async () => {
    for (const name of ['web-1', 'web-2']) await on.world.addPod(name);
    const drained = on.world.replica().drain();
    await on.world.endPod('web-1');
    expect((await on.world.marks())?.drained).toBeUndefined();
    await on.world.endPod('web-2');
    await drained;
    expect((await on.world.marks())?.drained).toBeDefined();
    expect(await on.world.progress()).toMatchObject({ pods_left: 0, blocked_by: [] });
    await eventually(async () =>
      expect(await on.world.said()).toEqual([
        expect.stringMatching('^DrainStarted: '),
        expect.stringMatching('^DrainFinished: '),
      ]),
    );
  },

  'waits for a pod that ends already, and asks for no eviction': async () => {
    await on.world.addPod('web-1');
    await on.cluster.admin.delete(`/api/v1/namespaces/${on.world.names.namespace}/pods/web-1`);
    const { drain, tap } = on.world.replica();
    const drained = drain();
    await eventually(() => expect(tap.watches).toHaveLength(2));
    expect((await on.world.marks())?.drained).toBeUndefined();
    await on.world.endPod('web-1');
    await drained;
    expect(tap.requests.filter(evicts)).toEqual([]);
  },

  'leaves the pods of DaemonSets, mirror pods and finished pods alone': async () => {
    const daemon = await addDaemon();
    await on.world.addPod('mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    for (const phase of ['Succeeded', 'Failed']) await on.world.addPod(phase.toLowerCase(), { phase });
    await on.world.replica().drain();
    for (const name of [daemon, 'mirror', 'succeeded', 'failed']) {
      expect((await on.world.pod(name)).metadata).not.toHaveProperty('deletionTimestamp');
    }
  },

  'evicts pods with local data and pods that nothing would create anew': async () => {
    await on.world.addPod('local', { volumes: [{ name: 'data', emptyDir: {} }] });
    await on.world.addPod('bare');
    const drained = on.world.replica().drain();
    for (const name of ['local', 'bare']) await on.world.endPod(name);
    await drained;
  },

  'evicts a pod that lands in its middle': async () => {
    await on.world.addPod('web-1');
    const drained = on.world.replica().drain();
    await on.world.isEnding('web-1');
    await on.world.addPod('late');
    for (const name of ['web-1', 'late']) await on.world.endPod(name);
    await drained;
  },

  'evicts a pod that tolerates the cordon but was there before it': async () => {
    await on.world.addPod('tolerates', TOLERATES_ALL);
    const drained = on.world.replica().drain();
    await on.world.endPod('tolerates');
    await drained;
  },

  'names a pod that came after the cordon and tolerates it, and does not wait for it': async () => {
    await on.world.addPod('web-1');
    const drained = on.world.replica().drain();
    await laterThanItsBeginning();
    await on.world.addPod('tolerates', TOLERATES_ALL);
    await on.world.endPod('web-1');
    await drained;
    expect((await on.world.pod('tolerates')).metadata).not.toHaveProperty('deletionTimestamp');
    const came = `; pods that tolerate the cordon came since: ${on.world.names.namespace}/tolerates`;
    await eventually(async () => expect(await on.world.said()).toContainEqual(expect.stringContaining(came)));
  },

  'asks no more for a pod that is gone': async () => {
    for (const name of ['web-1', 'web-2']) await on.world.addPod(name);
    const replica = on.world.replica();
    const eviction = asleep(replica, ({ path }) => path.endsWith('/web-1/eviction'));
    const drained = replica.drain();
    await eviction.reached;
    await on.world.removePod('web-1');
    eviction.wake();
    await on.world.endPod('web-2');
    await drained;
    expect(replica.tap.requests.filter(evicts)).toHaveLength(2);
  },

  'leaves the namesake alone that has taken a pod’s place on another node': async () => {
    await on.world.addPod('web-1');
    const replica = on.world.replica();
    const eviction = asleep(replica, evicts);
    const drained = replica.drain();
    await eviction.reached;
    await on.world.removePod('web-1');
    const path = `/api/v1/namespaces/${on.world.names.namespace}/pods`;
    const spec = { nodeName: on.cluster.node, containers: [{ name: 'main', image: 'web' }] };
    await eventually(() => on.cluster.admin.create(path, { metadata: { name: 'web-1' }, spec }));
    eviction.wake();
    await drained;
    expect((await on.world.pod('web-1')).metadata).not.toHaveProperty('deletionTimestamp');
  },

  'waits for the pods of a namespace that ends': async () => {
    const ending = await on.cluster.namespace();
    await on.world.addPod('web-1', { namespace: ending });
    await on.cluster.admin.delete(`/api/v1/namespaces/${ending}`);
    const { drain, tap } = on.world.replica();
    const drained = drain();
    await eventually(() => expect(tap.watches).toHaveLength(2));
    expect((await on.world.marks())?.drained).toBeUndefined();
    await on.world.endPod('web-1', ending);
    await drained;
  },

  'waits until the volumes of its pods are unmounted, and not for those of a pod that stays': async () => {
    const [logs, data] = [await addClaim(on, 'logs'), await addClaim(on, 'data')];
    await on.world.addPod('mirror', {
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      volumes: [claimed('logs')],
    });
    await on.world.addPod('web-1', { volumes: [claimed('data')] });
    await useVolumes(on, [logs, data]);
    const drained = on.world.replica().drain();
    await on.world.endPod('web-1');
    await eventually(async () => expect(await on.world.marks()).toHaveProperty('volumesSince'));
    expect(await on.world.marks()).not.toHaveProperty('drained');
    await useVolumes(on, [logs]);
    await drained;
    expect(await on.world.marks()).toHaveProperty('drained');
  },

  'outlives watches that break': async () => {
    await on.world.addPod('web-1');
    const { drain, tap } = on.world.replica();
    const drained = drain();
    await on.world.isEnding('web-1');
    tap.cut(new Error('cut'));
    await on.world.endPod('web-1');
    await drained;
  },

  'evicts the operator’s own pods once the others are ending': async () => {
    const { metadata } = await on.cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'drain-' } });
    on.world.atEnd(() => on.cluster.admin.delete(`/api/v1/nodes/${metadata.name}`));
    const conditions = [{ type: 'Ready', status: 'True' }];
    await on.cluster.admin.patch(`/api/v1/nodes/${metadata.name}/status`, { status: { conditions } });
    await on.world.addPod('web-1');
    await on.world.addPod('controller', controller());
    const drained = on.world.replica().drain();
    await on.world.isEnding('web-1');
    await on.world.isEnding('controller', on.world.names.operator);
    await on.world.endPod('controller', on.world.names.operator);
    await on.world.endPod('web-1');
    await drained;
  },

  'leaves the operator’s own pods where no other node could take them': async () => {
    await on.world.addPod('controller', controller());
    await on.world.addPod('web-1');
    const drained = on.world.replica({ transport: alone(on.world.replicas, on.world.names.nodeName) }).drain();
    await on.world.endPod('web-1');
    await drained;
    expect((await on.world.pod('controller', on.world.names.operator)).metadata).not.toHaveProperty(
      'deletionTimestamp',
    );
  },
});

test('a drain waits for nothing but its pods: it ends where no pause ever does', async () => {
  const clock = { ...systemClock, sleep: (_: number, signal?: AbortSignal) => aborted(signal ?? NEVER) };
  await on.world.addPod('web-1');
  const drained = on.world.replica({ clock }).drain();
  await on.world.endPod('web-1');
  await drained;
});
