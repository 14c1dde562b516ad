import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withRollout } from '../rollout/support.ts';
import { imageContainer, type ImageOptions, installed } from './container.ts';
import { ofThisMachine, readLayouts, unpack } from './layout.ts';

let dir: string;
let image: ImageOptions;
beforeAll(async () => {
  installed('runc', 'runc');
  dir = await mkdtemp(join(tmpdir(), 'brupop-image-'));
  const layout = ofThisMachine(await readLayouts());
  image = { layout, rootfs: await unpack(layout, join(dir, 'rootfs')), dir };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('a fleet goes over with all three processes in containers of the image, as the manifests constrain them', async () => {
  const containers = new Set<string>();
  const watched: Parameters<typeof withRollout>[0]['containers'] = (pod) => {
    const start = imageContainer(pod, image);
    if (start) containers.add(pod.metadata.labels?.['brupop.bottlerocket.aws/component'] ?? '');
    return start;
  };
  const interrupted = AbortSignal.timeout(90_000);
  await withRollout({ options: { nodes: 2 }, containers: watched, interrupted }, async (rollout) => {
    await rollout.over;
    expect(rollout.summary().faults).toEqual([]);
    expect([...rollout.recorder.updates.keys()].toSorted()).toEqual(['node-1', 'node-2']);
    expect(rollout.world.cluster.audit.filter(({ code }) => code === 403)).toEqual([]);
  });
  expect([...containers].toSorted()).toEqual(['agent', 'apiserver', 'brupop-controller']);
});
