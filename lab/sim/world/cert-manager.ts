import type { Clock } from '../../../runtime/lib/clock.ts';
import { type CertificateAuthority, createCa } from '../cluster/pki.ts';
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
  const certificates = manifests.filter((manifest): manifest is CertificateManifest => manifest.kind === 'Certificate');
  const secrets = await Promise.all(certificates.map((certificate) => secretOf(certificate, ca)));
  return { ca, manifests: [...manifests.map((manifest) => withCaBundle(manifest, ca)), ...secrets] };
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
