import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { archiveOf, binOf, type Target, TARGETS } from './executables.ts';

/** The plug-in's name; krew wants the manifest's file to bear it. */
export const PLUGIN = 'brupop';

const PROJECT = 'https://github.com/cdk8s-brupop/brupop';

/**
 * krew's manifest of a release, by which `kubectl krew install brupop` finds its executables.
 * @param dir folder with their archives
 * @param version without a leading v
 * @see https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 */
export async function krewManifest(dir: string, version: string): Promise<string> {
  const platforms = TARGETS.map(async (target) =>
    platform(target, version, await sha256Of(join(dir, archiveOf(target)))),
  );
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: PLUGIN },
    spec: {
      version: `v${version}`,
      homepage: PROJECT,
      shortDescription: 'See and steer updates of Bottlerocket nodes',
      description: DESCRIPTION,
      caveats: CAVEATS,
      platforms: await Promise.all(platforms),
    },
  };
  return stringify(manifest);
}

const DESCRIPTION = `Shows how far the updates of Bottlerocket nodes are, why each node is, or is
not, being updated, and what a rollout will do before it happens. It pauses,
holds, hastens and releases nodes, and looks for what is wrong with the
operator. It works with your own kubeconfig and rights.
`;

const CAVEATS = `The operator has to run in the cluster: ${PROJECT}
On macOS it is for Intel's processors. On Apple's:
  npm install --global cdk8s-brupop
Shells complete it once the same program is on the PATH by another name:
  ln -s kubectl-brupop "\${KREW_ROOT:-$HOME/.krew}/bin/kubectl_complete-brupop"
`;

function platform(target: Target, version: string, sha256: string): object {
  const { os, arch } = target;
  return {
    selector: { matchLabels: { os, arch } },
    uri: `${PROJECT}/releases/download/v${version}/${archiveOf(target)}`,
    sha256,
    bin: binOf(target),
  };
}

/** Of a file, hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
