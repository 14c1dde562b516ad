import { expect } from '@jest/globals';
import {
  CLUSTER_AUTOSCALER_ANNOTATION,
  KARPENTER_ANNOTATION,
  LB_LABEL,
  MARKS_ANNOTATION,
  UPDATING_LABEL,
} from '../../../runtime/marks/names.ts';
import { HOLD_ANNOTATION } from '../../../runtime/shadow/names.ts';
import { play } from '../scenarios.ts';
import { outcome } from '../world.ts';
import type { Call } from './api.ts';
import { looks, marks, node, NODES, patches, progress, refused, shadow } from './scenario.ts';
import { Stage } from './stage.ts';

const on = new Stage();

type Action = 'uncordon' | 'excludeFromLb' | 'removeExclusionFromLb';

function answer(action: Action, ...script: readonly Call[]): Promise<string> {
  const scene = on.sets(...script);
  return outcome(scene.replica().service[action](scene.agent));
}

const updated = { version: '1.39.0' };
const HINTS = { [CLUSTER_AUTOSCALER_ANNOTATION]: 'true', [KARPENTER_ANNOTATION]: 'true' };

/** A patch of exactly this, on the node as it was at `n1`. */
const writes = ({ spec, ...metadata }: { spec?: object; labels?: object; annotations?: object }): Call =>
  patches({ metadata: { resourceVersion: 'n1', ...metadata }, ...(spec && { spec }) });

play('an uncordon', {
  'undoes what the marks own, once the node is at its version': async () => {
    const owns = ['lb', 'cordon', 'cluster-autoscaler', 'karpenter'];
    const at = node('n1', {
      ...updated,
      cordoned: true,
      labels: { [LB_LABEL]: 'True' },
      marks: marks({ owns }),
      annotations: HINTS,
    });
    const release = writes({
      labels: { [UPDATING_LABEL]: null, [LB_LABEL]: null },
      annotations: { [CLUSTER_AUTOSCALER_ANNOTATION]: null, [KARPENTER_ANNOTATION]: null, [MARKS_ANNOTATION]: null },
      spec: { unschedulable: null },
    });
    expect(await answer('uncordon', ...looks(at, shadow('s1')), release)).toBe('ok');
  },

  'in the step that reboots writes nothing before the node is at its version': async () => {
    const at = node('n1', { cordoned: true, marks: marks() });
    expect(await answer('uncordon', ...looks(at, shadow('s1')))).toBe('409 NotAllowed');
  },

  'leaves an administrator’s cordon, each time it is asked': async () => {
    const own = marks({ owns: ['cluster-autoscaler', 'karpenter'] });
    const at = node('n1', { ...updated, cordoned: true, marks: own, annotations: HINTS });
    const release = writes({
      labels: { [UPDATING_LABEL]: null },
      annotations: { [CLUSTER_AUTOSCALER_ANNOTATION]: null, [KARPENTER_ANNOTATION]: null, [MARKS_ANNOTATION]: null },
    });
    expect(await answer('uncordon', ...looks(at, shadow('s1')), release)).toBe('ok');
    const released = node('n2', { ...updated, cordoned: true });
    const later = shadow('s1', { state: 'MonitoringUpdate', drain: progress(0) });
    expect(await answer('uncordon', ...looks(released, later))).toBe('ok');
  },

  'leaves the cordon of a node on hold': async () => {
    const annotations = { ...HINTS, [HOLD_ANNOTATION]: '' };
    const at = node('n1', { ...updated, cordoned: true, marks: marks(), annotations });
    const release = writes({
      labels: { [UPDATING_LABEL]: null },
      annotations: { [CLUSTER_AUTOSCALER_ANNOTATION]: null, [KARPENTER_ANNOTATION]: null, [MARKS_ANNOTATION]: null },
    });
    expect(await answer('uncordon', ...looks(at, shadow('s1')), release)).toBe('ok');
  },

  'leaves what others have told the autoscalers': async () => {
    const own = marks({ owns: ['cordon', 'cluster-autoscaler'] });
    const at = node('n1', { ...updated, cordoned: true, marks: own, annotations: HINTS });
    const release = writes({
      labels: { [UPDATING_LABEL]: null },
      annotations: { [CLUSTER_AUTOSCALER_ANNOTATION]: null, [MARKS_ANNOTATION]: null },
      spec: { unschedulable: null },
    });
    expect(await answer('uncordon', ...looks(at, shadow('s1')), release)).toBe('ok');
  },

  'looks again where the node changed, and obeys what it sees then': async () => {
    const before = node('n1', { cordoned: true, marks: marks() });
    const release: Call = {
      line: `PATCH ${NODES}/n1`,
      body: { metadata: { resourceVersion: 'n1' }, spec: { unschedulable: null } },
      answer: refused(409),
    };
    const script = [...looks(before, shadow('s1', { state: 'Idle' })), release];
    expect(await answer('uncordon', ...script, ...looks(before, shadow('s2')))).toBe('409 NotAllowed');
  },

  'without marks lifts the cordon of an older apiserver, at the wanted version': async () => {
    const at = node('n1', { ...updated, cordoned: true });
    const release = writes({ spec: { unschedulable: null } });
    expect(await answer('uncordon', ...looks(at, shadow('s1')), release)).toBe('ok');
  },

  'without marks writes nothing once a drain of ours has run': async () => {
    const at = node('n1', { ...updated, cordoned: true });
    expect(await answer('uncordon', ...looks(at, shadow('s1', { drain: progress(0) })))).toBe('ok');
  },

  'without marks writes nothing in another step': async () => {
    const at = node('n1', { ...updated, cordoned: true });
    for (const state of ['Idle', 'MonitoringUpdate']) {
      expect(await answer('uncordon', ...looks(at, shadow('s1', { state })))).toBe('ok');
    }
  },
});

play('the exclusion from load balancers', {
  'comes with marks that own it': async () => {
    const own = marks({ since: null, newestPod: undefined, owns: ['lb'] });
    const exclude = writes({ labels: { [LB_LABEL]: 'True' }, annotations: { [MARKS_ANNOTATION]: own } });
    expect(await answer('excludeFromLb', ...looks(node('n1'), shadow('s1')), exclude)).toBe('ok');
  },

  'is not written where it stands': async () => {
    const at = node('n1', { labels: { [LB_LABEL]: 'mine' } });
    expect(await answer('excludeFromLb', ...looks(at, shadow('s1')))).toBe('ok');
  },

  'is refused outside of the step that reboots': async () => {
    expect(await answer('excludeFromLb', ...looks(node('n1'), shadow('s1', { state: 'Idle' })))).toBe('409 NotAllowed');
  },

  'ends with its marks': async () => {
    const own = marks({ since: null, newestPod: undefined, owns: ['lb'] });
    const at = node('n1', { ...updated, labels: { [LB_LABEL]: 'True' }, marks: own });
    const include = writes({ labels: { [LB_LABEL]: null }, annotations: { [MARKS_ANNOTATION]: null } });
    expect(await answer('removeExclusionFromLb', ...looks(at, shadow('s1')), include)).toBe('ok');
  },

  'of somebody else does not end with ours': async () => {
    const at = node('n1', { ...updated, cordoned: true, labels: { [LB_LABEL]: 'True' }, marks: marks() });
    expect(await answer('removeExclusionFromLb', ...looks(at, shadow('s1')))).toBe('ok');
  },
});
