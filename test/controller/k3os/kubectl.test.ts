import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../runtime/api/k3os/answers.ts';
import { ADMIN } from '../../../lab/sim/cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../../../lab/sim/cluster/https.ts';
import { shared } from '../../folder.ts';
import { noKubectl } from '../../shell.ts';
import { K3osStage } from './stage.ts';

const when = noKubectl ? describe.skip : describe;
const run = promisify(execFile);
let k3os: K3osStage;
let served: ServedCluster;
afterEach(async () => {
  await served.close();
  await k3os.stage.end();
});

when('kubectl describe upchan -A', () => {
  test('shows before, in and after an upgrade what the announcement showed', async () => {
    k3os = await K3osStage.with('k3os-21702');
    served = await serveCluster(k3os.stage.cluster);
    const kubeconfig = join(shared, 'k3os-kubeconfig');
    await writeFile(kubeconfig, served.kubeconfig(ADMIN));
    const kubectl = async (...args: readonly string[]) =>
      (await run('kubectl', ['--kubeconfig', kubeconfig, ...args])).stdout;
    const described = () => kubectl('describe', 'upchan', '-A');

    k3os.start();
    await k3os.pass();
    const before = await described();
    expect(before).toMatch(/^Name: +github-releases$/m);
    expect(before).toMatch(/^Namespace: +k3os-system$/m);
    expect(before).toMatch(/^Annotations: +k3os\.io\/node: k3os-21702$/m);
    expect(before).toMatch(/^API Version: +k3os\.io\/v1$/m);
    expect(before).toMatch(
      /^Spec:\n +Concurrency: +1\n +URL: +github-releases:\/\/rancher\/k3os\n +Version: +v1\.0\.0$/m,
    );

    let tell: (answer: Answer) => void = () => undefined;
    k3os.answer = () => new Promise((resolve) => (tell = resolve));
    const patch = '{"spec":{"version":"latest"}}';
    await kubectl('-n', 'k3os-system', 'patch', 'upchan', 'github-releases', '--type=merge', `--patch=${patch}`);
    await k3os.pass();
    expect(await described()).toMatch(/^ +Version: +latest$[^]*^ +Polling: +k3os-21702$/m);

    tell({ kind: 'found', tag: 'v1.1.0' });
    await k3os.pass(30_000);
    expect(await described()).toMatch(/^ +Version: +v1\.1\.0$[^]*^ +Polling: *\n +Upgrading:\n +k3os-21702$/m);

    await k3os.stage.update('k3os-21702');
    await k3os.pass();
    const after = await described();
    expect(after).toMatch(/^ +Version: +v1\.1\.0$[^]*^ +Polling: *\n +Upgrading:$/m);
    expect(after).not.toMatch(/Upgrading:\n +k3os/);
    expect(await kubectl('-n', 'k3os-system', 'get', 'upchans', '-o', 'name')).toBe(
      'updatechannel.k3os.io/github-releases\n',
    );
  });
});
