import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { type Clock, rfc3339 } from '../../../runtime/lib/clock.ts';
import { type CertificateAuthority, createCa, ISSUED_FOR_MS } from '../cluster/pki.ts';
import { mergePatch } from '../kubernetes/pods.ts';
import type { Manifest } from './manifests.ts';

interface CertificateManifest extends Manifest {
  readonly spec: { readonly secretName: string; readonly commonName?: string; readonly dnsNames?: readonly string[] };
}

/** What stands in for cert-manager and its CA injector: done once, when the manifests are applied. */
export interface IssuedManifests {
  readonly ca: CertificateAuthority;
  /** The manifests, the CRDs with their CA, and a Secret for each Certificate. */
  readonly manifests: readonly Manifest[];
}

/** Issues every Certificate among the manifests under one authority, and puts that into the CRDs that ask for it. */
export async function issueCertificates(manifests: readonly Manifest[], clock: Clock): Promise<IssuedManifests> {
  const ca = await createCa(clock, 'brupop-selfsigned-ca');
  const secrets = await Promise.all(certificatesIn(manifests).map((certificate) => secretOf(certificate, ca)));
  return { ca, manifests: [...manifests.map((manifest) => withCaBundle(manifest, ca)), ...secrets] };
}

const certificatesIn = (manifests: readonly Manifest[]): readonly CertificateManifest[] =>
  manifests.filter((manifest): manifest is CertificateManifest => manifest.kind === 'Certificate');

/** Says of each Certificate, once it is in the cluster, that its Secret is there, and until when it is good. */
export async function tellReady(
  transport: KubeTransport,
  manifests: readonly Manifest[],
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const now = clock.now();
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', lastTransitionTime: rfc3339(now) };
  const status = { conditions: [ready], notAfter: rfc3339(now + ISSUED_FOR_MS) };
  for (const { metadata } of certificatesIn(manifests)) {
    const kind = { group: 'cert-manager.io', version: 'v1', plural: 'certificates', namespace: metadata.namespace };
    await transport.request(mergePatch(objectPath(collectionPath(kind), metadata.name, 'status'), { status }));
  }
}

async function secretOf({ metadata, spec }: CertificateManifest, ca: CertificateAuthority): Promise<Manifest> {
  const { secretName, commonName = metadata.name, dnsNames = [] } = spec;
  const { certPem, keyPem } = await ca.issue({ commonName, dnsNames });
  const files = { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': ca.certPem };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, ...(metadata.namespace && { namespace: metadata.namespace }) },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(Object.entries(files).map(([name, content]) => [name, base64(content)])),
  };
}

interface WebhookCrd extends Manifest {
  readonly spec: { readonly conversion?: { readonly webhook?: { readonly clientConfig?: object } } };
}

function withCaBundle(manifest: Manifest, ca: CertificateAuthority): Manifest {
  if (manifest.metadata.annotations?.['cert-manager.io/inject-ca-from'] === undefined) return manifest;
  const { spec } = manifest as WebhookCrd;
  const webhook = spec.conversion?.webhook;
  const clientConfig = { ...webhook?.clientConfig, caBundle: base64(ca.certPem) };
  return { ...manifest, spec: { ...spec, conversion: { ...spec.conversion, webhook: { ...webhook, clientConfig } } } };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
