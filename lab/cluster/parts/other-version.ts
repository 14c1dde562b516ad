import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Testing } from 'cdk8s';
import { BrupopChart, type BrupopProps } from '../../../infra/index.ts';
import { NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { applyAll } from '../../sim/world/manifests.ts';
import { kubectl } from '../../../test/e2e/kubectl.ts';
import { updating } from '../../../test/e2e/looks.ts';
import { importImages, operatorImage } from '../images.ts';
import { ClusterStage } from '../stage.ts';
import { nodeTools } from '../tools.ts';
import { servedWorkload } from '../workload.ts';

/** What another version of the operator has that this one has not: a tag, and something that every process is told. */
export const OTHER = { image: { tag: 'other' }, logging: { format: 'json' } } satisfies BrupopProps;

/** Nodes with a served workload and the images of both versions, slow enough for pods of both to come and go within one rollout. */
export async function stageForBoth(): Promise<ClusterStage> {
  const stage = await ClusterStage.set({ speed: 4 });
  const { name } = await operatorImage(stage.cluster.dir);
  await applyAll(stage.cluster.transport, servedWorkload(stage.fleet.nodes.size, name));
  await importOther(stage);
  return stage;
}

/** Gives the image to every node once more, under the other version's name. */
async function importOther({ cluster, fleet }: ClusterStage): Promise<void> {
  const { ctr } = await nodeTools({ env: process.env, progress: () => undefined });
  const own = await operatorImage(cluster.dir);
  const operator = { ...own, name: own.name.replace(/:[^:]*$/, `:${OTHER.image.tag}`) };
  for (const node of fleet.nodes.values()) await importImages(node, { archives: [], operator, ctr });
}

/** Writes the manifests of the other version as a file for kubectl. */
export async function otherManifests({ cluster }: ClusterStage): Promise<string> {
  const items: unknown[] = new BrupopChart(Testing.app(), 'brupop', OTHER).toJson();
  const file = join(cluster.dir, 'other.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  return file;
}

/** How an installation becomes the other version, and then again what it was. */
export interface Change {
  readonly upgrade: () => Promise<unknown>;
  readonly rollback: () => Promise<unknown>;
}

/**
 * Upgrades the operator while a node is in mid-update, and takes that back while another one is. Resolves when the nodes are rolled over
 * and every part of the operator is again what it was.
 * @returns the tags that were running when the upgrade was over
 */
export async function changeWhileUpdating(stage: ClusterStage, change: Change): Promise<readonly string[]> {
  const inMidUpdate = (besides: readonly string[]): Promise<string> =>
    stage.until((history) => updating(history, besides));
  const first = await inMidUpdate([]);
  await change.upgrade();
  for (const deployment of DEPLOYMENTS) await rolledOut(deployment);
  const tags = await runningTags();
  await inMidUpdate([first]);
  await change.rollback();
  await stage.rolledOver();
  for (const workload of ['daemonset/brupop-agent', ...DEPLOYMENTS]) await rolledOut(workload);
  return tags;
}

const DEPLOYMENTS = ['deployment/brupop-apiserver', 'deployment/brupop-controller-deployment'];

function rolledOut(workload: string): Promise<unknown> {
  return kubectl('rollout', 'status', '--namespace', NAMESPACE, workload, '--timeout=180s');
}

/** Tags of the operator's pods that are not on their way out, each once. */
export async function runningTags(): Promise<readonly string[]> {
  const { stdout } = await kubectl('get', 'pods', '--namespace', NAMESPACE, '--output', 'json');
  const { items } = JSON.parse(stdout) as { items: readonly SomePod[] };
  const images = items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap(({ spec }) => spec.containers.map(({ image }) => image));
  return [...new Set(images.map((image) => image.replace(/^.*:/, '')))].toSorted();
}

interface SomePod {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}
