import type { SimOptions } from '../sim/options.ts';
import type { BuildOptions } from '../../tools/go/build.ts';
import type { RealCluster } from '../../test/e2e/cluster.ts';
import { prepared } from '../../test/e2e/controlplane/build.ts';
import { installAddons } from './addons.ts';
import { type RealFleet, startRealFleet } from './fleet.ts';
import { importImages, operatorImage } from './images.ts';
import { certManagerManifest, corednsManifest } from './parts/manifests.ts';
import { podImages } from './parts/images.ts';
import { missing } from './requirements.ts';
import { nodeTools } from './tools.ts';

/** For a control plane beside which nodes will run: Services' addresses are reached by then. */
export const BESIDE_NODES = { CONTROLPLANE_KUBE_PROXY: 'true' };

/**
 * Finds or builds everything that a cluster consists of, but for the operator's image. By the time that it runs there is no network.
 * @throws Error with everything that this machine lacks
 */
export async function preparedCluster(options: BuildOptions): Promise<void> {
  const faults = missing();
  if (faults.length > 0) throw new Error(faults.join('\n'));
  await prepared(options);
  await nodeTools(options);
  await podImages(options);
  await corednsManifest({ address: '', domain: '' }, options);
  await certManagerManifest(options);
}

export interface StartOptions {
  readonly options: SimOptions;
  readonly build: BuildOptions;
}

/** Boots real nodes beside a real control plane, with DNS and cert-manager in pods. Resolves when they work. */
export async function startCluster(cluster: RealCluster, { options, build }: StartOptions): Promise<RealFleet> {
  const tools = await nodeTools(build);
  const images = { archives: await podImages(build), operator: await operatorImage(cluster.dir), ctr: tools.ctr };
  build.progress('booting the nodes');
  const fleet = await startRealFleet(cluster, { fleet: options, tools });
  try {
    const imports = [...fleet.nodes.values()].map((node) => importImages(node, images));
    await Promise.race([Promise.all(imports), fleet.failed]);
    build.progress('starting DNS and cert-manager');
    await Promise.race([installAddons(cluster.dir, build), fleet.failed]);
    return fleet;
  } catch (error) {
    await fleet.stop();
    throw error;
  }
}
