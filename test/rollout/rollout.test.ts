import { describe, expect, test } from '@jest/globals';
import type { Rollout } from '../../sim/rollout.ts';
import type { Manifest } from '../../sim/world/manifests.ts';
import { until, withRollout } from './support.ts';

/** Rollouts with real processes on an embedded cluster, at fifty times the speed of life. */

const SECONDS = 1000;

/** A rollout in which no process may ask for anything that its role lacks, whatever befalls it. */
function permittedRollout(request: Parameters<typeof withRollout>[0], use: (rollout: Rollout) => Promise<void>) {
  return withRollout(request, async (rollout) => {
    await use(rollout);
    expect(rollout.world.cluster.audit.filter(({ code }) => code === 403)).toEqual([]);
  });
}

test(
  'three nodes go over one after the other, without disruption and without a trace',
  () =>
    permittedRollout({}, async (rollout) => {
      await rollout.over;
      expect(rollout.summary().faults).toEqual([]);
      expect(rollout.recorder.mostCordoned).toBe(1);
      expect([...rollout.recorder.updates.keys()].toSorted()).toEqual(['node-1', 'node-2', 'node-3']);
      expect(rollout.world.evictions()).toBeGreaterThan(0);
    }),
  60 * SECONDS,
);

test(
  'twenty-five nodes, five at a time: never more than five are cordoned',
  () =>
    permittedRollout({ options: { nodes: 25, concurrency: '5' } }, async (rollout) => {
      await rollout.over;
      expect(rollout.summary().faults).toEqual([]);
      expect(rollout.recorder.mostCordoned).toBeGreaterThan(1);
      expect(rollout.recorder.mostCordoned).toBeLessThanOrEqual(5);
    }),
  120 * SECONDS,
);

test(
  'a node whose new image does not boot comes back on the old one, is released, and is named',
  () =>
    permittedRollout({ options: { faults: new Map([['node-2', 'boot']]) } }, async (rollout) => {
      await rollout.over;
      const { faults } = rollout.summary();
      expect(faults).toEqual([
        expect.stringMatching(/^node-2 runs 1\.38\.0, not 1\.39\.0: BootFailed on 1\.39\.0, .*crash count 1/),
      ]);
      expect(rollout.recorder.shadows.get('brs-node-2')).toMatchObject({
        spec: { state: 'Idle' },
        status: { current_state: 'Idle', crash_count: 1, current_version: '1.38.0', failed_versions: ['1.39.0'] },
      });
      expect(rollout.recorder.nodes.get('node-2')?.spec?.unschedulable).toBeUndefined();
    }),
  60 * SECONDS,
);

describe('a process that is killed in mid-rollout is started again, and the rollout completes:', () => {
  test.each(['brupop-controller', 'apiserver', 'agent'])(
    '%s',
    (component) =>
      permittedRollout({}, async (rollout) => {
        const { recorder, world } = rollout;
        await until(rollout, () => [...recorder.shadows.values()].some(({ status }) => status?.drain));
        const pids = world.pods.pids(component);
        expect(pids.length).toBeGreaterThan(0);
        for (const pid of pids) process.kill(pid, 'SIGKILL');
        await rollout.over;
        expect(rollout.summary().faults).toEqual([]);
        expect(recorder.mostCordoned).toBe(1);
      }),
    90 * SECONDS,
  );
});

test(
  'without the right to evict the rollout fails, with the API server’s own words',
  () =>
    withRollout({ options: { nodes: 1 }, edit: withoutEviction }, async (rollout) => {
      await rollout.over;
      const [fault] = rollout.summary().faults;
      expect(fault).toMatch(/^node-1 runs 1\.38\.0, not 1\.39\.0: DrainFailed on 1\.39\.0/);
      expect(fault).toContain(
        'brupop-apiserver-service-account" cannot create resource "pods/eviction" in API group ""',
      );
    }),
  60 * SECONDS,
);

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
