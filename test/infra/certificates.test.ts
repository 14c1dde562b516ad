import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { operatorAddress, readAgentConfig } from '../../runtime/agent/config.ts';
import { faults } from './faults.ts';
import { find, manifests, type Manifest, podSpec } from './manifests.ts';
import { CA } from './pem.ts';

const CRD = ['CustomResourceDefinition', 'bottlerocketshadows.brupop.bottlerocket.aws'] as const;
const kinds = (objects: readonly Manifest[]) => new Set(objects.map(({ kind }) => kind));

const secretOf = (objects: readonly Manifest[], process: 'agent' | 'apiserver'): string =>
  podSpec(objects, process).volumes.find((volume: object) => 'secret' in volume).secret.secretName;

describe("the operator's own CA", () => {
  const objects = manifests();

  test('is injected from the certificate that is served, which exists', () => {
    const from = find(objects, ...CRD).metadata.annotations?.['cert-manager.io/inject-ca-from']?.split('/') ?? [];
    const certificate = find(objects, 'Certificate', from[1] ?? '');
    expect(certificate.metadata.namespace).toBe(from[0]);
    expect(certificate.spec.secretName).toBe(secretOf(objects, 'apiserver'));
  });

  test('signs every leaf, and each issuer that is named exists', () => {
    for (const { spec } of objects.filter(({ kind }) => kind === 'Certificate')) {
      const issuer = find(objects, spec.issuerRef.kind, spec.issuerRef.name);
      expect(spec.isCA ? issuer.spec : issuer.spec.ca).toEqual(
        spec.isCA ? { selfSigned: {} } : { secretName: 'brupop-root-ca-secret' },
      );
    }
    expect(find(objects, 'Certificate', 'brupop-selfsigned-ca').spec.secretName).toBe('brupop-root-ca-secret');
  });

  test('keeps its key while leaves change theirs', () => {
    const rotation = (name: string) => find(objects, 'Certificate', name).spec;
    expect(rotation('brupop-selfsigned-ca')).toMatchObject({
      isCA: true,
      duration: '87600h0m0s',
      privateKey: { algorithm: 'RSA', encoding: 'PKCS8', rotationPolicy: 'Never' },
    });
    for (const leaf of ['brupop-apiserver-certificate', 'brupop-apiserver-client-certificate'])
      expect(rotation(leaf)).toMatchObject({ duration: '2160h0m0s', privateKey: { rotationPolicy: 'Always' } });
  });

  test('vouches for the names that agents and the API server call', () => {
    expect(find(objects, 'Certificate', 'brupop-apiserver-certificate').spec).toMatchObject({
      dnsNames: ['*.brupop-bottlerocket-aws.svc.cluster.local', '*.brupop-bottlerocket-aws.svc'],
      usages: expect.arrayContaining(['server auth']),
    });
  });

  test('vouches for the name that our agents dial, which is one in a cluster of any domain', () => {
    const config = readAgentConfig({ MY_NODE_NAME: 'n' });
    const { host, servername } = operatorAddress(config, 'brupop-bottlerocket-aws');
    expect([host, servername]).toEqual(Array.from({ length: 2 }, () => 'brupop-apiserver.brupop-bottlerocket-aws.svc'));
    const { dnsNames } = find(objects, 'Certificate', 'brupop-apiserver-certificate').spec;
    const subjectaltname = (dnsNames as string[]).map((name) => `DNS:${name}`).join(', ');
    expect(checkServerIdentity(host, { subjectaltname } as PeerCertificate)).toBeUndefined();
  });
});

test("an issuer of the user's signs the leaves, and there is no CA of ours", () => {
  const objects = manifests({ certificates: { kind: 'issuer', name: 'company', issuerKind: 'ClusterIssuer' } });
  expect(kinds(objects)).not.toContain('Issuer');
  const certificates = objects.filter(({ kind }) => kind === 'Certificate');
  expect(certificates.map(({ spec }) => spec.issuerRef)).toEqual(
    Array.from({ length: 2 }, () => ({ name: 'company', kind: 'ClusterIssuer', group: 'cert-manager.io' })),
  );
});

test('an issuer of another group keeps its kind, and one of cert-manager has to have one of its kinds', () => {
  const certificates = { kind: 'issuer', name: 'pca', issuerKind: 'AWSPCAClusterIssuer' } as const;
  const objects = manifests({ certificates: { ...certificates, group: 'awspca.cert-manager.io' } });
  expect(find(objects, 'Certificate', 'brupop-apiserver-certificate').spec.issuerRef).toEqual({
    name: 'pca',
    kind: 'AWSPCAClusterIssuer',
    group: 'awspca.cert-manager.io',
  });
  expect(faults({ certificates })).toEqual([
    'certificates.issuerKind: expected Issuer or ClusterIssuer, which are those of the group cert-manager.io, got "AWSPCAClusterIssuer"',
  ]);
});

test('names and keys of the certificates are as asked for, and the CA keeps its key', () => {
  const certificates = { kind: 'self-signed', keySize: 4096, dnsNames: ['brupop.example.com'] } as const;
  const objects = manifests({ certificates, clusterDomain: 'corp.example' });
  const { dnsNames, privateKey } = find(objects, 'Certificate', 'brupop-apiserver-certificate').spec;
  expect(dnsNames).toEqual([
    '*.brupop-bottlerocket-aws.svc.cluster.local',
    '*.brupop-bottlerocket-aws.svc',
    '*.brupop-bottlerocket-aws.svc.corp.example',
    'brupop.example.com',
  ]);
  expect(privateKey.size).toBe(4096);
  expect(find(objects, 'Certificate', 'brupop-selfsigned-ca').spec.privateKey.size).toBe(2048);
});

test('what an issuer demands is stated, by its own words for it', () => {
  const asked = {
    commonName: 'brupop',
    subject: { organizations: ['Example'], countries: ['DE'] },
    secretTemplate: { labels: { copied: 'yes' } },
  };
  const own = { kind: 'issuer', name: 'vault', keyAlgorithm: 'ECDSA', wildcards: false, usages: [] } as const;
  const objects = manifests({ certificates: { ...own, ...asked, duration: '240h0m0s', renewBefore: '80h' } });
  for (const [name, usage] of [
    ['brupop-apiserver-certificate', 'server auth'],
    ['brupop-apiserver-client-certificate', 'client auth'],
  ] as const)
    expect(find(objects, 'Certificate', name).spec).toMatchObject({
      ...asked,
      duration: '240h0m0s',
      renewBefore: '80h0m0s',
      usages: [usage],
      privateKey: { algorithm: 'ECDSA', size: 256 },
      dnsNames: [
        'brupop-apiserver.brupop-bottlerocket-aws.svc.cluster.local',
        'brupop-apiserver.brupop-bottlerocket-aws.svc',
      ],
    });
  expect(faults({ certificates: { ...own, keySize: 2048 } })).toEqual([
    'certificates.keySize: expected 2048, 3072 or 4096, of ECDSA 256 or 384, got 2048',
  ]);
});

test('ready-made secrets need no cert-manager at all', () => {
  const objects = manifests({ certificates: { kind: 'secret', serverSecret: 'tls', caSecret: 'ca', caBundle: CA } });
  expect(JSON.stringify(objects)).not.toContain('cert-manager');
  const { clientConfig } = find(objects, ...CRD).spec.conversion.webhook;
  expect(Buffer.from(clientConfig.caBundle, 'base64').toString()).toBe(CA);
  expect([secretOf(objects, 'apiserver'), secretOf(objects, 'agent')]).toEqual(['tls', 'ca']);
});

test('without a CA bundle the API server could not trust them, so it is required', () => {
  const certificates = { kind: 'secret', serverSecret: 'tls' } as never;
  expect(() => manifests({ certificates })).toThrow(
    'certificates.caBundle: expected certificates in PEM, and nothing else in PEM, got nothing',
  );
});
