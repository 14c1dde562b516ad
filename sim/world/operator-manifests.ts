import { App } from 'cdk8s';
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { BrupopChart } from '../../infra/index.ts';
import type { SimOptions } from '../options.ts';
import type { Manifest } from './manifests.ts';

/** CRDs of others that the operator's manifests use; a real cluster has them from cert-manager. */
const FOREIGN_CRDS = ['imports/crds/cert-manager.yaml'];

/** The default, in real life. */
const RETURN_TIMEOUT_SEC = 900;

/** The operator as its constructs synthesise it, with what the run was asked for. */
export function operatorManifests({ concurrency, hosts = [], speed }: SimOptions): Manifest[] {
  const maxConcurrentUpdate = /^\d+$/.test(concurrency) ? Number(concurrency) : concurrency;
  const chart = new BrupopChart(new App(), 'brupop', {
    agent: { interfaceV1: hosts.includes('updog') },
    controller: { maxConcurrentUpdate, nodeReturnTimeoutInSec: Math.ceil(RETURN_TIMEOUT_SEC / speed) },
  });
  return chart.toJson() as Manifest[];
}

/** @param root folder of the project */
export async function foreignCrds(root: string): Promise<Manifest[]> {
  const texts = await Promise.all(FOREIGN_CRDS.map((file) => readFile(`${root}/${file}`, 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
}
