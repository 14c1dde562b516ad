import { App } from 'cdk8s';
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { BrupopChart, type RepositoryProps } from '../../../infra/index.ts';
import {
  CHANNEL_API_VERSION,
  CHANNEL_KIND,
  CHANNEL_NAMESPACE,
  DEFAULT_CHANNEL,
  DEFAULT_CHANNEL_URL,
} from '../../../runtime/api/k3os/names.ts';
import type { SimOptions } from '../options.ts';
import type { Manifest } from './manifests.ts';

/** CRDs of others that the operator's manifests use; a real cluster has them from cert-manager. */
const FOREIGN_CRDS = ['imports/crds/cert-manager.yaml'];

/** The default, in real life. */
const RETURN_TIMEOUT_SEC = 900;

export interface Sources {
  /** Who tells of releases of k3OS. @default GitHub */
  readonly releasesUrl?: string | undefined;
  /** Of the hosts' releases. @default none are read */
  readonly repositories?: readonly RepositoryProps[] | undefined;
}

/** The operator as its constructs synthesise it, with what the run was asked for. */
export function operatorManifests(
  { concurrency, hosts = [], speed }: SimOptions,
  { releasesUrl = 'https://api.github.com', repositories = [] }: Sources = {},
): Manifest[] {
  const maxConcurrentUpdate = /^\d+$/.test(concurrency) ? Number(concurrency) : concurrency;
  const chart = new BrupopChart(new App(), 'brupop', {
    agent: { interfaceV1: hosts.includes('updog') },
    repositories,
    k3os: { enabled: hosts.includes('k3os'), releasesUrl },
    controller: { maxConcurrentUpdate, nodeReturnTimeoutInSec: Math.ceil(RETURN_TIMEOUT_SEC / speed) },
  });
  return chart.toJson() as Manifest[];
}

/** What stands beside the operator where nodes run k3OS: the namespace that k3OS has, and a channel of which somebody has asked for the latest. */
export function channelManifests({
  concurrency,
  hosts = [],
  nodes,
}: SimOptions): readonly [before: Manifest[], after: Manifest[]] {
  if (!hosts.includes('k3os')) return [[], []];
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CHANNEL_NAMESPACE } };
  const spec = { concurrency: Number(concurrency) || nodes, url: DEFAULT_CHANNEL_URL, version: 'latest' };
  const metadata = { name: DEFAULT_CHANNEL, namespace: CHANNEL_NAMESPACE };
  return [[namespace], [{ apiVersion: CHANNEL_API_VERSION, kind: CHANNEL_KIND, metadata, spec }]];
}

/** @param root folder of the project */
export async function foreignCrds(root: string): Promise<Manifest[]> {
  const texts = await Promise.all(FOREIGN_CRDS.map((file) => readFile(`${root}/${file}`, 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
}
