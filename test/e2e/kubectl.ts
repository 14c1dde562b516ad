import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** On the control plane that `npm run controlplane -- exec` has started around this process. Rejects with what kubectl said. */
export function kubectl(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)('kubectl', args);
}
