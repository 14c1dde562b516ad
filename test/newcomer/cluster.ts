import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { serveCluster } from '../../lab/sim/cluster/https.ts';
import { ROOT } from '../documents.ts';
import { run, runQuietly } from './command.ts';

/** Has `kubectl apply --dry-run=server` try `manifests` on a cluster that has cert-manager's definitions, and nothing else. */
export async function tryOnCluster(manifests: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const served = await serveCluster(new EmbeddedCluster({ clock: systemClock, random: Math.random }));
  try {
    await mkdir(folder);
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, served.kubeconfig(ADMIN));
    const options = { cwd: folder, env: { ...env, KUBECONFIG: kubeconfig } };
    await run(['kubectl', 'apply', '-f', join(ROOT, 'imports', 'crds', 'cert-manager.yaml')], options);
    // A dry run creates nothing, so the namespace has to be there before what lives in it.
    const [namespace = ''] = manifests.split('---\n');
    await writeFile(join(folder, 'namespace.yaml'), namespace);
    await runQuietly(['kubectl', 'apply', '-f', 'namespace.yaml'], options);
    await writeFile(join(folder, 'all.yaml'), manifests);
    await runQuietly(['kubectl', 'apply', '--dry-run=server', '-f', 'all.yaml'], options);
  } finally {
    await served.close();
  }
}
