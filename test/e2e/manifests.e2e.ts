import { beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { certManagerCrds } from './controlplane/build.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** On the control plane that `npm run controlplane -- exec` has started around this process. Rejects with what kubectl said. */
function kubectl(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)('kubectl', args);
}

beforeAll(async () => {
  await kubectl('apply', '--server-side', '-f', await certManagerCrds({ env: process.env }));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all');
  // A dry run makes none for the rest to be in.
  await kubectl('create', 'namespace', NAMESPACE, '--save-config');
}, 60_000);

test('the API server takes every manifest without an error and without a warning', async () => {
  const { stdout, stderr } = await kubectl('apply', '--dry-run=server', '--validate=strict', '-f', DIST);
  expect(stderr).toBe('');
  expect(
    stdout
      .trim()
      .split('\n')
      .every((line) => line.endsWith('(server dry run)')),
  ).toBe(true);
});
