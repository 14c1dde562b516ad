import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import {
  Certificate,
  type CertificateSpec,
  CertificateSpecPrivateKeyAlgorithm,
  CertificateSpecPrivateKeyEncoding,
  CertificateSpecPrivateKeyRotationPolicy,
  type CertificateSpecSecretTemplate,
  type CertificateSpecSubject,
  CertificateSpecUsages,
  Issuer,
  type IssuerSpec,
} from '../imports/cert-manager.io.ts';
import { APISERVER_SERVICE } from '../runtime/api/shadow/names.ts';
import type { Component } from './labels.ts';
import {
  CA_CERTIFICATE,
  CA_ISSUER,
  CA_SECRET,
  CLIENT_CERTIFICATE,
  SELF_SIGNED_ISSUER,
  SERVER_CERTIFICATE,
} from './names.ts';
import { addObject, namespacedMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';
import {
  CERT_MANAGER,
  type CertificateSettings,
  type KeyUsage,
  type ManagedCertificateSettings,
} from './props/certificates.ts';

interface CertificatesProps {
  readonly settings: Settings;
  readonly source: ManagedCertificateSettings;
}

export interface Authority {
  readonly selfSignedIssuer: ApiObject;
  readonly ca: ApiObject;
  readonly caIssuer: ApiObject;
}

const KEY = {
  algorithm: CertificateSpecPrivateKeyAlgorithm.RSA,
  encoding: CertificateSpecPrivateKeyEncoding.PKCS8,
  // Existing installations have such a CA key, and under rotationPolicy Never another size would be an error, not a new key.
  size: 2048,
};

const USAGES: Readonly<Record<KeyUsage, CertificateSpecUsages>> = {
  'content commitment': CertificateSpecUsages.CONTENT_COMMITMENT,
  'data encipherment': CertificateSpecUsages.DATA_ENCIPHERMENT,
  'digital signature': CertificateSpecUsages.DIGITAL_SIGNATURE,
  'key agreement': CertificateSpecUsages.KEY_AGREEMENT,
  'key encipherment': CertificateSpecUsages.KEY_ENCIPHERMENT,
};

const CA_USAGES = [
  CertificateSpecUsages.CERT_SIGN,
  CertificateSpecUsages.KEY_ENCIPHERMENT,
  CertificateSpecUsages.DIGITAL_SIGNATURE,
];

/** What cert-manager has to make: the certificates of the apiserver and, where no issuer exists already, their CA. */
export class Certificates extends Construct {
  /** The operator's own CA; undefined where an issuer of the user's signs. */
  readonly authority: Authority | undefined;
  readonly server: ApiObject;
  readonly client: ApiObject;
  readonly #props: CertificatesProps;

  /** @internal */
  constructor(scope: Construct, id: string, props: CertificatesProps) {
    super(scope, id);
    this.#props = props;
    this.authority = props.source.kind === 'self-signed' ? this.#addAuthority(props.source.caDuration) : undefined;
    this.server = this.#addLeaf('Server', { name: SERVER_CERTIFICATE, usage: CertificateSpecUsages.SERVER_AUTH });
    this.client = this.#addLeaf('Client', { name: CLIENT_CERTIFICATE, usage: CertificateSpecUsages.CLIENT_AUTH });
  }

  #addAuthority(duration: string): Authority {
    return {
      selfSignedIssuer: this.#addIssuer('SelfSigned', SELF_SIGNED_ISSUER, { selfSigned: {} }),
      ca: this.#addCertificate('Ca', CA_CERTIFICATE, {
        secretName: CA_SECRET,
        commonName: CA_CERTIFICATE,
        isCa: true,
        duration: printed(duration),
        usages: CA_USAGES,
        // A new key would make every certificate void that the old one has signed, because nothing signs those again.
        privateKey: { ...KEY, rotationPolicy: CertificateSpecPrivateKeyRotationPolicy.NEVER },
        issuerRef: { name: SELF_SIGNED_ISSUER, kind: 'Issuer', group: CERT_MANAGER },
      }),
      caIssuer: this.#addIssuer('CaIssuer', CA_ISSUER, { ca: { secretName: CA_SECRET } }),
    };
  }

  #addLeaf(id: string, { name, usage }: { readonly name: string; readonly usage: CertificateSpecUsages }): ApiObject {
    const { settings, source } = this.#props;
    const issuer =
      source.kind === 'self-signed' ? { name: CA_ISSUER, issuerKind: 'Issuer', group: CERT_MANAGER } : source;
    const { commonName, subject, secretTemplate, keyAlgorithm, keySize = KEY_SIZES[keyAlgorithm] } = source;
    return this.#addCertificate(id, name, {
      secretName: name,
      ...(commonName !== undefined && { commonName }),
      ...(subject && { subject: subject as CertificateSpecSubject }),
      ...(secretTemplate && { secretTemplate: secretTemplate as CertificateSpecSecretTemplate }),
      dnsNames: dnsNames(settings, source),
      duration: printed(source.duration),
      renewBefore: printed(source.renewBefore),
      usages: [usage, ...source.usages.map((one) => USAGES[one])],
      privateKey: {
        ...KEY,
        algorithm: CertificateSpecPrivateKeyAlgorithm[keyAlgorithm],
        size: keySize,
        rotationPolicy: CertificateSpecPrivateKeyRotationPolicy.ALWAYS,
      },
      issuerRef: { name: issuer.name, kind: issuer.issuerKind, group: issuer.group },
    });
  }

  #addCertificate(id: string, name: string, spec: CertificateSpec): ApiObject {
    return addObject(this, id, Certificate.manifest({ metadata: this.#meta(name), spec }));
  }

  #addIssuer(id: string, name: string, spec: IssuerSpec): ApiObject {
    return addObject(this, id, Issuer.manifest({ metadata: this.#meta(name), spec }));
  }

  #meta(name: string) {
    return namespacedMeta(this.#props.settings, { name, component: 'apiserver' satisfies Component });
  }
}

/** Bits of a key. @internal */
export const KEY_SIZES = { RSA: 2048, ECDSA: 256 } as const;

/** As Go prints it: older releases of cert-manager write it back so, and whatever compares it with the manifest would see a difference. */
function printed(hours: string): string {
  return `${hours.replace(/0m0s$/, '')}0m0s`;
}

type Names = Pick<ManagedCertificateSettings, 'dnsNames' | 'wildcards'>;

/**
 * Agents of the older operator dial the first name in every cluster. Our agents, and the Kubernetes API, dial the one that ends in `svc`.
 */
function dnsNames({ namespace, clusterDomain }: Settings, { dnsNames: more, wildcards }: Names): string[] {
  const services = `${wildcards ? '*' : APISERVER_SERVICE}.${namespace}.svc`;
  return [...new Set([`${services}.cluster.local`, services, `${services}.${clusterDomain}`, ...more])];
}

/** Secret with the certificate and key that the apiserver serves. @internal */
export function serverSecret(source: CertificateSettings): string {
  return source.kind === 'secret' ? source.serverSecret : SERVER_CERTIFICATE;
}

/** Secret with the ca.crt that agents trust. @internal */
export function caSecret(source: CertificateSettings): string {
  return source.kind === 'secret' ? (source.caSecret ?? source.serverSecret) : CLIENT_CERTIFICATE;
}
