import { describe, expect, test } from '@jest/globals';
import type { Node, ShadowObject } from '../../../runtime/kube/objects.ts';
import { shadowsPath } from '../../../runtime/kube/resources.ts';
import { MARKS_ANNOTATION } from '../../../runtime/marks/names.ts';
import { NAMESPACE, shadowName } from '../../../runtime/shadow/names.ts';
import { type Beginning, drawPast, MONTH_MS } from './beginnings.ts';
import { chance } from './chance.ts';
import { MINUTE, readiness, Rig } from './rig.ts';

const NODES = Array.from({ length: 12 }, (_, index) => `node-${index + 1}`);

/** A fleet in which a node has begun like that. */
async function fleetWith(beginning: Beginning, ms = 2 * MINUTE): Promise<{ readonly rig: Rig; readonly name: string }> {
  for (let seed = 1; ; seed++) {
    const { nodes } = drawPast(NODES, chance(seed, 'environment/past'));
    const name = NODES.find((node) => nodes.get(node) === beginning);
    if (name !== undefined) return { rig: await Rig.at(ms, { nodes: NODES.length, seed }), name };
  }
}

async function shadowOf(rig: Rig, node: string): Promise<ShadowObject | undefined> {
  return rig.admin.get<ShadowObject>(`${shadowsPath(NAMESPACE)}/${shadowName(node)}`);
}

const transition = ({ status }: Node): number =>
  Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '');

describe('what a fleet of the simulation has behind it', () => {
  test('is never trouble for more than a third of its nodes, and for many fleets nothing', () => {
    const shares = Array.from({ length: 200 }, (_, seed) => {
      const { nodes } = drawPast(NODES, chance(seed, 'environment/past'));
      return [...nodes.values()].filter((beginning) => beginning !== 'known').length / NODES.length;
    });
    expect(Math.max(...shares)).toBeLessThanOrEqual(1 / 3);
    expect(shares.filter((share) => share === 0).length).toBeGreaterThan(60);
  });

  test.each(['dead', 'dead-in-update'] as const)('may be a machine that is %s for a month', async (beginning) => {
    const { rig, name } = await fleetWith(beginning);
    const node = await rig.node(name);
    expect(readiness(node)).toBe('Unknown');
    expect(transition(node)).toBeLessThanOrEqual(rig.time.now() - MONTH_MS);
    expect(rig.when(`${name} up`)).toEqual([]);
    const [container] = (await rig.agent(name))?.status?.containerStatuses ?? [];
    expect(Date.parse(container?.state?.running?.startedAt ?? '')).toBeLessThanOrEqual(rig.time.now() - MONTH_MS);
  });

  test('comes back with its machine in the end, where that was in the middle of an update', async () => {
    const { rig, name } = await fleetWith('dead-in-update');
    const requested = (await shadowOf(rig, name))?.status?.reboot?.requested_at ?? '';
    expect(Date.parse(requested)).toBeLessThanOrEqual(rig.time.now() - MONTH_MS);
    rig.environment.calm();
    await rig.pass(5 * MINUTE);
    expect(readiness(await rig.node(name))).toBe('True');
    expect(rig.containers.has(`agent-${name}`)).toBe(true);
  });

  test('may be marks of nobody, and a cordon of the older operator without any', async () => {
    const marked = await fleetWith('marked');
    const node = await marked.rig.node(marked.name);
    expect(node.spec?.unschedulable).toBe(true);
    expect(node.metadata.annotations).toHaveProperty([MARKS_ANNOTATION]);
    const older = await fleetWith('older-operator');
    const other = await older.rig.node(older.name);
    expect(other.spec?.unschedulable).toBe(true);
    expect(other.metadata.annotations ?? {}).not.toHaveProperty([MARKS_ANNOTATION]);
    expect((await shadowOf(older.rig, older.name))?.status).toMatchObject({ current_version: '1.37.0' });
    expect(other.status?.nodeInfo?.osImage).toContain('1.37.0');
  });
});
