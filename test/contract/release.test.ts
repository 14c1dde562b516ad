import { beforeEach, expect } from '@jest/globals';
import type { Service } from '../../runtime/apiserver/service.ts';
import {
  CLUSTER_AUTOSCALER_ANNOTATION,
  KARPENTER_ANNOTATION,
  LB_LABEL,
  MARKS_ANNOTATION,
  UPDATING_LABEL,
} from '../../runtime/api/marks/names.ts';
import { HOLD_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { asleep, type Replica } from './replica.ts';
import { play, stage } from './stage.ts';

/** What the apiserver undoes of what it, or an administrator, has done to a node, against the cluster. */

const on = stage();

let replica: Replica;
let service: Service;
beforeEach(() => {
  replica = on.world.replica();
  ({ service } = replica);
});

const NOT_ALLOWED: object = expect.objectContaining({ status: 409, reason: 'NotAllowed' });
const uncordon = (): Promise<void> => service.uncordon(on.world.agent);
const updated = (): Promise<unknown> => on.world.boots('1.39.0', 'boot-2');
/** What it has written since. */
const writes = (): unknown[] => replica.tap.requests.splice(0).filter(({ method }) => method !== 'GET');
const cordon = (): Promise<void> => on.world.patchNode({ spec: { unschedulable: true } });

play('an uncordon', {
  'undoes what the marks own, once the node is at its version': async () => {
    await service.excludeFromLb(on.world.agent);
    await replica.drain();
    await updated();
    await uncordon();
    const { metadata, spec } = await on.world.node();
    expect(spec?.unschedulable ?? false).toBe(false);
    expect(metadata.labels ?? {}).not.toHaveProperty([UPDATING_LABEL]);
    expect(metadata.labels ?? {}).not.toHaveProperty([LB_LABEL]);
    expect(Object.keys(metadata.annotations ?? {}).filter((name) => /brupop|karpenter|autoscaler/.test(name))).toEqual(
      [],
    );
  },

  'in the step that reboots writes nothing before the node is at its version': async () => {
    await replica.drain();
    writes();
    await expect(uncordon()).rejects.toEqual(NOT_ALLOWED);
    await expect(service.removeExclusionFromLb(on.world.agent)).rejects.toEqual(NOT_ALLOWED);
    expect(writes()).toEqual([]);
    expect(await on.world.isCordoned()).toBe(true);
  },

  'leaves an administrator’s cordon, each time it is asked': async () => {
    await cordon();
    await replica.drain();
    expect((await on.world.marks())?.owns).toEqual(['cluster-autoscaler', 'karpenter']);
    await updated();
    for (const state of ['RebootedIntoUpdate', 'MonitoringUpdate'] as const) {
      await on.world.setSpec({ state });
      await uncordon();
      expect(await on.world.isCordoned()).toBe(true);
    }
    expect(await on.world.marks()).toBeUndefined();
  },

  'leaves the cordon of a node on hold': async () => {
    await replica.drain();
    await on.world.patchNode({ metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
    await updated();
    await uncordon();
    expect(await on.world.isCordoned()).toBe(true);
    expect(await on.world.marks()).toBeUndefined();
  },

  'leaves what others have told the autoscalers': async () => {
    await on.world.patchNode({ metadata: { annotations: { [KARPENTER_ANNOTATION]: 'true' } } });
    await replica.drain();
    expect((await on.world.marks())?.owns).toEqual(['cordon', 'cluster-autoscaler']);
    await updated();
    await uncordon();
    const { annotations } = (await on.world.node()).metadata;
    expect(annotations).toHaveProperty([KARPENTER_ANNOTATION], 'true');
    expect(annotations).not.toHaveProperty([CLUSTER_AUTOSCALER_ANNOTATION]);
  },

  'looks again where the node changed, and obeys what it sees then': async () => {
    await replica.drain();
    await on.world.setSpec({ state: 'Idle' });
    const release = asleep(replica, ({ method }) => method === 'PATCH');
    const released = uncordon();
    await release.reached;
    await on.world.setSpec({ state: 'RebootedIntoUpdate' });
    await on.world.patchNode({ metadata: { labels: { changed: 'yes' } } });
    release.wake();
    await expect(released).rejects.toEqual(NOT_ALLOWED);
    expect(await on.world.isCordoned()).toBe(true);
  },
});

const label = async (): Promise<string | undefined> => (await on.world.node()).metadata.labels?.[LB_LABEL];

play('the exclusion from load balancers', {
  'comes with marks that own it': async () => {
    await service.excludeFromLb(on.world.agent);
    expect(await label()).toBe('True');
    expect((await on.world.marks())?.owns).toEqual(['lb']);
  },

  'is not written where it stands': async () => {
    await on.world.patchNode({ metadata: { labels: { [LB_LABEL]: 'mine' } } });
    await service.excludeFromLb(on.world.agent);
    expect(writes()).toEqual([]);
    expect(await label()).toBe('mine');
  },

  'is refused outside of the step that reboots': async () => {
    await on.world.setSpec({ state: 'Idle' });
    await expect(service.excludeFromLb(on.world.agent)).rejects.toEqual(NOT_ALLOWED);
    expect(writes()).toEqual([]);
    expect(await label()).toBeUndefined();
  },

  'ends with its marks': async () => {
    await service.excludeFromLb(on.world.agent);
    await updated();
    await service.removeExclusionFromLb(on.world.agent);
    expect(await label()).toBeUndefined();
    expect(await on.world.marks()).toBeUndefined();
  },

  'of somebody else does not end with ours': async () => {
    await on.world.patchNode({ metadata: { labels: { [LB_LABEL]: 'True' } } });
    await service.excludeFromLb(on.world.agent);
    await replica.drain();
    await updated();
    await service.removeExclusionFromLb(on.world.agent);
    await uncordon();
    expect(await label()).toBe('True');
  },
});

interface Left {
  readonly cordoned: boolean;
  readonly excluded: boolean;
}
const UNTOUCHED: Left = { cordoned: true, excluded: true };

/** What stands on the node once an agent has asked for its release in this step. */
async function left(spec: object = {}): Promise<Left> {
  await on.world.setSpec(spec);
  await service.removeExclusionFromLb(on.world.agent);
  await uncordon();
  return { cordoned: await on.world.isCordoned(), excluded: (await label()) !== undefined };
}

/** As the older implementation's apiserver leaves it, which writes no marks; an administrator's looks the same. */
const byAnother = (): Promise<void> =>
  on.world.patchNode({ metadata: { labels: { [LB_LABEL]: 'True' } }, spec: { unschedulable: true } });

play('what stands on a node without marks', {
  'is taken over at the wanted version, where no drain of ours has run': async () => {
    await byAnother();
    await updated();
    expect(await left()).toEqual({ cordoned: false, excluded: false });
  },

  'stays once a drain of ours has run in this attempt': async () => {
    await byAnother();
    await replica.drain();
    await on.world.patchNode({ metadata: { annotations: { [MARKS_ANNOTATION]: null } } });
    await updated();
    writes();
    expect(await left()).toEqual(UNTOUCHED);
    expect(writes()).toEqual([]);
  },

  'stays in another step': async () => {
    await byAnother();
    await updated();
    for (const state of ['Idle', 'StagedAndPerformedUpdate', 'MonitoringUpdate']) {
      expect(await left({ state })).toEqual(UNTOUCHED);
    }
    expect(writes()).toEqual([]);
  },

  'stays where the node’s image names no version, whatever is wanted': async () => {
    await byAnother();
    const status = { nodeInfo: { osImage: 'Debian' } };
    await on.cluster.admin.patch(`/api/v1/nodes/${on.world.names.nodeName}/status`, { status });
    for (const version of ['1.39.0', null]) expect(await left({ version })).toEqual(UNTOUCHED);
  },

  'keeps its cordon, but not its exclusion, on a node on hold': async () => {
    await byAnother();
    await on.world.patchNode({ metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
    await updated();
    expect(await left()).toEqual({ cordoned: true, excluded: false });
  },

  'stays beside marks of ours that do not own it, also where the definition of the resource drops a drain':
    async () => {
      await byAnother();
      await replica.drain();
      await on.world.setStatus({ drain: null });
      await updated();
      expect(await left()).toEqual(UNTOUCHED);
      expect(await on.world.marks()).toBeUndefined();
    },
});
