import type { KubeObject, Node } from '../../runtime/kube/objects.ts';
import { collectionPath, objectPath } from '../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { GROUP, KIND, NAMESPACE, PLURAL, shadowName } from '../../runtime/api/shadow/names.ts';

export interface OlderShadow {
  readonly version: 'v1' | 'v2';
  readonly spec: object;
  readonly status: object;
}

/** Writes a node's shadow as an older apiserver did, owned by the node. Resolves with its UID. */
export async function createShadow(
  transport: KubeTransport,
  { metadata: { name, uid } }: Node,
  { version, spec, status }: OlderShadow,
): Promise<string> {
  const path = collectionPath({ group: GROUP, version, plural: PLURAL, namespace: NAMESPACE });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  const metadata = { name: shadowName(name), ownerReferences };
  const body = { apiVersion: `${GROUP}/${version}`, kind: KIND, metadata, spec };
  const created = (await transport.request({ method: 'POST', path, body })) as KubeObject;
  const contentType = 'application/merge-patch+json';
  await transport.request({
    method: 'PATCH',
    path: objectPath(path, shadowName(name), 'status'),
    contentType,
    body: { status },
  });
  return created.metadata.uid;
}
