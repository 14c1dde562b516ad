import { expect, test } from '@jest/globals';
import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import type { Service } from '../../runtime/apiserver/service.ts';
import { diesAfter } from './death.ts';
import { started, World } from './world.ts';

type Act = (service: Service, agent: VerifiedAgent) => Promise<void>;

interface Scene {
  readonly act: Act;
  /** What was done to the node before. */
  readonly before?: readonly Act[];
  /** Whether the node has come up at the wanted version meanwhile. */
  readonly updated?: boolean;
}

const exclude: Act = (service, agent) => service.excludeFromLb(agent);
const drain: Act = (service, agent) => service.cordonAndDrain(agent);

const SCENES: Readonly<Record<string, Scene>> = {
  'an exclusion from load balancers': { act: exclude },
  'a drain': { act: drain },
  'a drain of a node that is out of its load balancers': { act: drain, before: [exclude] },
  'the end of an exclusion': {
    act: (service, agent) => service.removeExclusionFromLb(agent),
    before: [exclude, drain],
    updated: true,
  },
  'an uncordon': { act: (service, agent) => service.uncordon(agent), before: [exclude, drain], updated: true },
};

/** The pods end one after the other, with a word of progress in between. */
async function passTime(world: World): Promise<void> {
  for (const name of ['web-1', 'web-2']) {
    await world.clock.advance(6_000);
    if ((await world.pods()).some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp))
      await world.endPod(name);
  }
  await world.clock.advance(6_000);
}

/** Plays the scene, with a replica that dies after `writes` and another one that the agent asks then. */
async function play({ act, before = [], updated }: Scene, writes: number): Promise<{ died: boolean; end: object }> {
  const world = await World.create();
  await world.addNode('n2');
  const agent = await world.agent();
  for (const earlier of before) await earlier(world.replica().service, agent);
  for (const name of ['web-1', 'web-2']) await world.addPod(name);
  if (updated) await world.boots('1.39.0', 'boot-2');

  const first = world.replica();
  const death = started(diesAfter(first, writes));
  let died = false;
  const retry = (): Promise<void> => {
    died = true;
    return act(world.replica().service, agent);
  };
  const asked = started(Promise.race([act(first.service, agent), death]).catch(retry));
  await passTime(world);
  await asked;
  return { died, end: await stateOf(world) };
}

/** All that is left of it but for what each attempt makes anew: identities and versions. */
async function stateOf(world: World): Promise<object> {
  const { metadata, spec } = await world.node();
  const { id: _, proof: __, ...marks } = (await world.marks()) ?? { id: '' };
  const annotations = Object.keys(metadata.annotations ?? {}).toSorted();
  const pods = (await world.pods()).map((pod) => [pod.metadata.name, pod.metadata.deletionTimestamp]);
  const { spec: wanted, status } = await world.shadow();
  return { labels: metadata.labels, annotations, marks, unschedulable: spec?.unschedulable, pods, wanted, status };
}

test.each(Object.keys(SCENES))(
  'whichever write of %s is the last before a kill -9, the next request brings it to the same end',
  async (name) => {
    const scene = SCENES[name]!;
    const { end: expected } = await play(scene, Infinity);
    let writes = 0;
    for (; ; writes++) {
      const { died, end } = await play(scene, writes);
      expect({ writes, ...end }).toEqual({ writes, ...expected });
      if (!died) break;
    }
    // None at all would prove nothing.
    expect(writes).toBeGreaterThanOrEqual(scene.act === drain ? 9 : 1);
  },
);
