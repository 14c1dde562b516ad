import { afterEach, expect, test } from '@jest/globals';
import { fleetLines } from '../../runtime/cli/commands/why.ts';
import { K3osStage } from '../controller/k3os/stage.ts';
import { deployContainer, seenOn } from './deployed.ts';

let k3os: K3osStage;
afterEach(() => k3os.stage.end());

test('k3OS nodes are told of as their controller has it, by what the channel says alone', async () => {
  k3os = await K3osStage.with('n1', 'n2');
  await k3os.make();
  const variables = { K3OS_NAMESPACE: 'k3os-system', PROOF_NODES: '100%', MAX_CONCURRENT_UPDATE: 'unlimited' };
  const env = Object.entries(variables).map(([name, value]) => ({ name, value }));
  await deployContainer(k3os.stage, { name: 'brupop', image: 'x', env });
  const lines = async () => fleetLines(await seenOn(k3os.stage)).filter((line) => /^n\d /.test(line));
  // Nobody has asked its source yet.
  expect(await lines()).toEqual([
    expect.stringContaining('WaitingForPolicy'),
    expect.stringContaining('WaitingForPolicy'),
  ]);
  k3os.start();
  await k3os.pass();
  expect(await lines()).toEqual([
    expect.stringMatching(/^n1 +Updating .*1\.1\.0/),
    expect.stringMatching(/^n2 +WaitingForSlot .*policy k3os-system\/github-releases/),
  ]);
  await k3os.patch({ url: 'ftp://k3os' });
  expect((await lines())[1]).toMatch(/^n2 +PolicyInvalid .*spec\.url/);
});
