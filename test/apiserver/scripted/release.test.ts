import { afterEach, describe, expect, test } from '@jest/globals';
import {
  CLUSTER_AUTOSCALER_ANNOTATION,
  KARPENTER_ANNOTATION,
  LB_LABEL,
  MARKS_ANNOTATION,
  UPDATING_LABEL,
} from '../../../runtime/marks/names.ts';
import { outcome } from '../world.ts';
import type { Call } from './api.ts';
import { looks, marks, node, patches, progress, refused, scenario, type Scenario, shadow } from './scenario.ts';

let scene: Scenario;
afterEach(() => scene.api.end());

type Action = 'uncordon' | 'excludeFromLb' | 'removeExclusionFromLb';

function answer(action: Action, ...script: readonly Call[]): Promise<string> {
  scene = scenario(...script);
  return outcome(scene.service[action](scene.agent));
}

const updated = { version: '1.39.0' };
const HINTS = { [CLUSTER_AUTOSCALER_ANNOTATION]: 'true', [KARPENTER_ANNOTATION]: 'true' };
const NO_HINTS = { [CLUSTER_AUTOSCALER_ANNOTATION]: null, [KARPENTER_ANNOTATION]: null };

describe('an uncordon', () => {
  test('undoes what the marks own, on the node as it was looked at', async () => {
    const release = patches({
      metadata: {
        resourceVersion: 'n1',
        labels: { [UPDATING_LABEL]: null },
        annotations: { ...NO_HINTS, [MARKS_ANNOTATION]: null },
      },
      spec: { unschedulable: null },
    });
    const at = node('n1', { ...updated, cordoned: true, marks: marks(), annotations: HINTS });
    expect(await answer('uncordon', ...looks(at, shadow('s1')), release)).toBe('ok');
  });

  test('in the step that reboots writes nothing before the node is at its version', async () => {
    const at = node('n1', { cordoned: true, marks: marks() });
    expect(await answer('uncordon', ...looks(at, shadow('s1')))).toBe('409 NotAllowed');
  });

  test('looks again where the node changed, and obeys what it sees then', async () => {
    const before = node('n1', { cordoned: true, marks: marks() });
    const release = { ...patches({ metadata: { resourceVersion: 'n1' } }), answer: refused(409) };
    const script = [...looks(before, shadow('s1', { state: 'Idle' })), release];
    expect(await answer('uncordon', ...script, ...looks(before, shadow('s2')))).toBe('409 NotAllowed');
  });

  test('without marks lifts the cordon of an older apiserver, at the wanted version', async () => {
    const at = node('n1', { ...updated, cordoned: true });
    const release = patches({ metadata: { resourceVersion: 'n1' }, spec: { unschedulable: null } });
    expect(await answer('uncordon', ...looks(at, shadow('s1')), release)).toBe('ok');
  });

  test.each([
    ['once a drain of ours has run', shadow('s1', { drain: progress(0) })],
    ['in another step', shadow('s1', { state: 'MonitoringUpdate' })],
  ])('without marks writes nothing %s', async (_when, atShadow) => {
    const at = node('n1', { ...updated, cordoned: true });
    expect(await answer('uncordon', ...looks(at, atShadow))).toBe('ok');
  });
});

describe('the exclusion from load balancers', () => {
  const own = marks({ since: null, owns: ['lb'] });

  test('comes with marks that own it', async () => {
    const exclude = patches({
      metadata: { resourceVersion: 'n1', labels: { [LB_LABEL]: 'True' }, annotations: { [MARKS_ANNOTATION]: own } },
    });
    expect(await answer('excludeFromLb', ...looks(node('n1'), shadow('s1')), exclude)).toBe('ok');
  });

  test('is not written where it stands', async () => {
    const at = node('n1', { labels: { [LB_LABEL]: 'true' } });
    expect(await answer('excludeFromLb', ...looks(at, shadow('s1')))).toBe('ok');
  });

  test('is refused outside of the step that reboots', async () => {
    expect(await answer('excludeFromLb', ...looks(node('n1'), shadow('s1', { state: 'Idle' })))).toBe('409 NotAllowed');
  });

  test('ends with its marks', async () => {
    const at = node('n1', { ...updated, labels: { [LB_LABEL]: 'True' }, marks: own });
    const include = patches({
      metadata: { resourceVersion: 'n1', labels: { [LB_LABEL]: null }, annotations: { [MARKS_ANNOTATION]: null } },
    });
    expect(await answer('removeExclusionFromLb', ...looks(at, shadow('s1')), include)).toBe('ok');
  });

  test('of somebody else does not end with ours', async () => {
    const at = node('n1', { ...updated, cordoned: true, labels: { [LB_LABEL]: 'True' }, marks: marks() });
    expect(await answer('removeExclusionFromLb', ...looks(at, shadow('s1')))).toBe('ok');
  });
});
