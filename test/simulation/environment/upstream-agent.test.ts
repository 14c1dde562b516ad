import { expect, test } from '@jest/globals';
import type { ShadowObject } from '../../../runtime/kube/objects.ts';
import type { Status } from '../../../runtime/shadow/model.ts';
import type { Entry } from '../entries.ts';
import { run } from '../run.ts';
import type { EnvironmentTerms, SimulatedEnvironment } from '../parts.ts';
import type { Scenario } from '../types.ts';
import { createEnvironment } from './environment.ts';
import { Hand } from './hand.ts';
import { MINUTE } from './rig.ts';

/** In a larger fleet the replica that serves the older agent is hardly ever the one on its own node, which ends in the drain: it asks no other. */
const SCENARIO: Scenario = {
  seed: 7,
  nodes: 6,
  stormMs: 40 * MINUTE,
  settings: { controller: {}, apiserver: {}, agent: {} },
  releases: [
    { version: '1.38.0', from: 0 },
    { version: '1.39.0', from: 3 * MINUTE },
  ],
  faults: [],
  policies: { definedAt: undefined, policies: {} },
};

function statusOf(entry: Entry): Status | undefined {
  const isIt = entry.kind === 'write' && entry.name === 'brs-node-1' && entry.subresource === 'status';
  return isIt ? ((entry.after as ShadowObject | undefined)?.status ?? undefined) : undefined;
}

test('an agent of the older operator is brought to the release by ours, without a record of a reboot', async () => {
  const history: Entry[] = [];
  const environment = (terms: EnvironmentTerms): SimulatedEnvironment => {
    const made = createEnvironment(terms);
    terms.time.after(10, () => made.machines.runUpstreamAgent('node-1'));
    return made;
  };
  const parts = {
    environment,
    faults: [],
    invariants: [],
    calmMs: () => MINUTE,
    onEntry: (entry: Entry) => void history.push(entry),
  };
  await run(SCENARIO, parts);
  const statuses = history.flatMap((entry) => statusOf(entry) ?? []);
  const states = statuses.map(({ current_state }) => current_state);
  expect(states.filter((state, index) => state !== states[index - 1])).toEqual([
    'Idle',
    'StagedAndPerformedUpdate',
    'RebootedIntoUpdate',
    'MonitoringUpdate',
    'Idle',
  ]);
  expect(statuses.at(-1)?.current_version).toBe('1.39.0');
  expect(statuses.filter(({ reboot }) => reboot != null)).toEqual([]);
});

test('an agent of the older operator that starts while its Node is away is no mistake of the simulation', async () => {
  const history: Entry[] = [];
  let removeNode = (): unknown => undefined;
  const environment = (terms: EnvironmentTerms): SimulatedEnvironment => {
    const made = createEnvironment(terms);
    removeNode = () => new Hand(terms.cluster, 'cloud-controller-manager').delete('/api/v1/nodes/node-1');
    terms.time.after(10, () => made.machines.runUpstreamAgent('node-1'));
    return made;
  };
  const onEntry = (entry: Entry): void => {
    history.push(entry);
    if (entry.kind === 'process' && entry.process === 'upstream-agent-node-1' && entry.event === 'starts') removeNode();
  };
  const parts = { environment, faults: [], invariants: [], calmMs: () => MINUTE, onEntry };
  await run({ ...SCENARIO, stormMs: MINUTE }, parts);
  const events = history.flatMap((entry) =>
    entry.kind === 'process' && entry.process === 'upstream-agent-node-1' ? [entry.event] : [],
  );
  expect(events).toContain('starts');
  expect(events).not.toContain('failed');
});
