import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Crane } from '../image/crane.ts';
import { inTemporaryFolder } from '../image/downloads.ts';
import { run } from '../image/run.ts';

const CONFIG = 'application/vnd.cncf.helm.config.v1+json';
const CONTENT = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/**
 * Pushes a packed chart to a registry, so that `helm install oci://...` finds it. It is the same each time.
 * @param file the chart, as `helm package` writes it
 * @param reference e.g. `ghcr.io/cdk8s-brupop/charts/brupop:0.1.0`
 * @see https://helm.sh/docs/topics/registries/
 */
export async function pushChart(crane: Crane, file: string, reference: string): Promise<void> {
  await inTemporaryFolder(async (dir) => {
    await writeLayout(file, dir);
    await crane('push', dir, reference);
  });
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An OCI image layout with the chart as its one manifest. */
async function writeLayout(file: string, dir: string): Promise<void> {
  const blobs = join(dir, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const blob = async (mediaType: string, content: Buffer): Promise<Descriptor> => {
    const hash = createHash('sha256').update(content).digest('hex');
    await writeFile(join(blobs, hash), content);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const metadata = parse(await run('tar', ['-xzOf', file, 'brupop/Chart.yaml'])) as object;
  const config = await blob(CONFIG, Buffer.from(JSON.stringify(metadata)));
  const layers = [await blob(CONTENT, await readFile(file))];
  const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers };
  const manifests = [await blob(MANIFEST, Buffer.from(JSON.stringify(manifest)))];
  await writeFile(join(dir, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  await writeFile(join(dir, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
}
