import type {
  V1SecretProjection,
  V1ServiceAccountTokenProjection,
  V1Volume,
  V1VolumeProjection,
} from '@kubernetes/client-node';
import type { Json, Pod } from '../../../runtime/kube/objects.ts';
import { NotFoundError } from '../../../runtime/kube/errors.ts';
import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { fieldOf } from './pod-template.ts';
import { PodToken, type PodTokenOptions } from './pod-token.ts';
import type { VolumeFiles } from './volume.ts';

/** What the files of a volume should be now. @throws the transport's errors; Error where an object lacks a key that is asked for */
export type Contents = () => Promise<VolumeFiles>;

/** Contents of a volume that is not the host's, and no more of each source than it names. */
export function contentsOf(pod: Pod, { secret, projected }: Json<V1Volume>, options: PodTokenOptions): Contents {
  if (secret) return keysOf(pod, { plural: 'secrets', name: secret.secretName ?? '', ...secret }, options.transport);
  const sources = (projected?.sources ?? []).map((source) => contentsOfSource(pod, source, options));
  return async () => {
    const parts = await Promise.all(sources.map((files) => files()));
    return Object.assign({}, ...parts) as VolumeFiles;
  };
}

function contentsOfSource(pod: Pod, source: Json<V1VolumeProjection>, options: PodTokenOptions): Contents {
  const { serviceAccountToken, secret, configMap, downwardAPI } = source;
  if (serviceAccountToken) return tokenFile(pod, serviceAccountToken, options);
  if (secret) return keysOf(pod, { plural: 'secrets', ...secret }, options.transport);
  if (configMap) return keysOf(pod, { plural: 'configmaps', ...configMap }, options.transport);
  const fields = (downwardAPI?.items ?? []).map(({ path, fieldRef }) => [path, fieldOf(pod, fieldRef?.fieldPath)]);
  return async () => Object.fromEntries(fields) as VolumeFiles;
}

function tokenFile(
  pod: Pod,
  { path, ...source }: Json<V1ServiceAccountTokenProjection>,
  options: PodTokenOptions,
): Contents {
  const token = new PodToken({ pod, ...source }, options);
  return async () => ({ [path]: await token.current() });
}

interface KeysOf extends Json<V1SecretProjection> {
  readonly plural: 'secrets' | 'configmaps';
}

function keysOf(pod: Pod, { plural, name = '', items, optional = false }: KeysOf, transport: KubeTransport): Contents {
  const collection = collectionPath({ version: 'v1', plural, namespace: pod.metadata.namespace });
  return async () => {
    const answer = await transport
      .request({ method: 'GET', path: objectPath(collection, name) })
      .catch((error: unknown) => {
        if (optional && error instanceof NotFoundError) return {};
        throw error;
      });
    const { data = {} } = answer as { readonly data?: Readonly<Record<string, string>> };
    const named = items ?? Object.keys(data).map((key) => ({ key, path: key }));
    const wanted = optional ? named.filter(({ key }) => key in data) : named;
    const files = wanted.map(({ key, path }) => {
      const value = data[key];
      if (value === undefined) throw new Error(`${plural} ${name} has no key ${key}`);
      return [path, plural === 'secrets' ? Buffer.from(value, 'base64').toString('utf8') : value];
    });
    return Object.fromEntries(files) as VolumeFiles;
  };
}
