import * as z from 'zod';
import { caBundle } from './ca-bundle.ts';
import {
  annotationMap,
  dnsName,
  domain,
  flag,
  goHours,
  labelMap,
  objectName,
  afterOwnChecks,
  someText,
} from './fields.ts';

/** Where the apiserver's certificate comes from: a CA of the operator's own, an issuer of yours, or Secrets that exist. */
export type CertificateProps = SelfSignedProps | IssuerProps | SecretProps;

/** The same with every default. */
export type CertificateSettings = ManagedCertificateSettings | SecretProps;
/** Certificates that cert-manager makes. */
export type ManagedCertificateSettings =
  | (Required<Omit<SelfSignedProps, OptionalCertificateProp>> & Pick<RotationProps, OptionalCertificateProp>)
  | (Required<Omit<IssuerProps, OptionalCertificateProp>> & Pick<RotationProps, OptionalCertificateProp>);

/** Settings of every certificate that cert-manager makes. */
export interface RotationProps {
  /** Lifetime of the certificates, in hours. @default 2160h (90 days) */
  readonly duration?: string;
  /** How long before its end a certificate is renewed, in hours. @default 720h (30 days) */
  readonly renewBefore?: string;
  /** Kind of their keys; that of the operator's own CA stays RSA. @default RSA */
  readonly keyAlgorithm?: 'RSA' | 'ECDSA';
  /**
   * Bits of their keys; that of the operator's own CA keeps its 2048, or an existing one could not be renewed. @default 2048, of ECDSA 256
   */
  readonly keySize?: 2048 | 3072 | 4096 | 256 | 384 | undefined;
  /** Names besides those of the operator's Services. @default none */
  readonly dnsNames?: readonly string[];
  /** Whether the names are `*.<namespace>.svc` and the like; false = that of the apiserver's Service alone. @default true */
  readonly wildcards?: boolean;
  /** For issuers that demand one; at most 64 characters. @default none */
  readonly commonName?: string | undefined;
  /** For issuers that demand one. @default none */
  readonly subject?: CertificateSubject | undefined;
  /**
   * What the keys may be used for, besides `server auth` of the server's and `client auth` of the agents'. An empty list is for issuers that
   * choose their template by the usages, as AWS Private CA does. @default ["key encipherment", "digital signature"]
   */
  readonly usages?: readonly KeyUsage[];
  /** Labels and annotations of the Secrets, e.g. for what copies them. @default none */
  readonly secretTemplate?: SecretTemplate | undefined;
}

/** As in cert-manager. */
export interface CertificateSubject {
  readonly organizations?: readonly string[] | undefined;
  readonly organizationalUnits?: readonly string[] | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly provinces?: readonly string[] | undefined;
  readonly localities?: readonly string[] | undefined;
  readonly streetAddresses?: readonly string[] | undefined;
  readonly postalCodes?: readonly string[] | undefined;
  readonly serialNumber?: string | undefined;
}

export interface SecretTemplate {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export type KeyUsage =
  'content commitment' | 'data encipherment' | 'digital signature' | 'key agreement' | 'key encipherment';

/** Props of certificates that have no default of their own. */
export type OptionalCertificateProp = 'keySize' | 'commonName' | 'subject' | 'secretTemplate';

export interface SelfSignedProps extends RotationProps {
  readonly kind: 'self-signed';
  /** Lifetime of the CA, in hours: no less than that of the certificates. @default 87600h (10 years) */
  readonly caDuration?: string;
}

export interface IssuerProps extends RotationProps {
  readonly kind: 'issuer';
  /** An issuer of yours that puts its CA into the Secrets as `ca.crt` (a public ACME one does not). */
  readonly name: string;
  /** `Issuer`, `ClusterIssuer`, or with another `group` what is known there, e.g. `AWSPCAClusterIssuer`. @default Issuer */
  readonly issuerKind?: string;
  /** API group of the issuer, e.g. `awspca.cert-manager.io`. @default cert-manager.io */
  readonly group?: string;
}

export interface SecretProps {
  readonly kind: 'secret';
  /** Secret with tls.crt, tls.key and ca.crt for `*.<namespace>.svc` and `*.<namespace>.svc.cluster.local`. */
  readonly serverSecret: string;
  /** Secret whose ca.crt the agents trust. @default serverSecret */
  readonly caSecret?: string | undefined;
  /** Certificates of the CA in PEM: the API server trusts them when it calls the conversion webhook. */
  readonly caBundle: string;
}

/** API group of cert-manager's own issuers. @internal */
export const CERT_MANAGER = 'cert-manager.io';

const texts = z.array(someText).readonly().optional();

const subject = z.strictObject({
  organizations: texts,
  organizationalUnits: texts,
  countries: texts,
  provinces: texts,
  localities: texts,
  streetAddresses: texts,
  postalCodes: texts,
  serialNumber: someText.optional(),
} satisfies Record<keyof CertificateSubject, z.ZodType>);

const secretTemplate = z.strictObject({
  labels: labelMap.optional(),
  annotations: annotationMap.optional(),
} satisfies Record<keyof SecretTemplate, z.ZodType>);

const USAGES = [
  'content commitment',
  'data encipherment',
  'digital signature',
  'key agreement',
  'key encipherment',
] as const satisfies readonly KeyUsage[];

const rotation = {
  duration: goHours.default('2160h'),
  renewBefore: goHours.default('720h'),
  keyAlgorithm: z.enum(['RSA', 'ECDSA'], 'expected RSA or ECDSA').default('RSA'),
  keySize: z.literal([2048, 3072, 4096, 256, 384], 'expected 2048, 3072 or 4096, of ECDSA 256 or 384').optional(),
  dnsNames: z.array(dnsName).readonly().default([]),
  wildcards: flag.default(true),
  commonName: someText.max(64, 'expected at most 64 characters').optional(),
  subject: subject.optional(),
  usages: z
    .array(z.enum(USAGES, `expected ${USAGES.join(', ')}`))
    .readonly()
    .default(['key encipherment', 'digital signature']),
  secretTemplate: secretTemplate.optional(),
} satisfies Record<keyof RotationProps, z.ZodType>;

const hours = (lifetime: string): number => Number.parseInt(lifetime, 10);

type Lifetimes = Required<Pick<RotationProps, 'duration' | 'renewBefore'>>;

const renewedInTime = (props: Lifetimes): boolean => hours(props.renewBefore) < hours(props.duration);

const isSizeOfKey = ({ keyAlgorithm, keySize }: Pick<ManagedCertificateSettings, 'keyAlgorithm' | 'keySize'>) =>
  keySize === undefined || keySize < 1024 === (keyAlgorithm === 'ECDSA');

const SIZE = {
  path: ['keySize'],
  message: 'expected 2048, 3072 or 4096, of ECDSA 256 or 384',
  ...afterOwnChecks('keyAlgorithm', 'keySize'),
};

const RENEWAL = {
  path: ['renewBefore'],
  message: 'expected less than duration',
  ...afterOwnChecks('renewBefore', 'duration'),
};

const selfSigned = z
  .strictObject({
    kind: z.literal('self-signed'),
    ...rotation,
    caDuration: goHours.default('87600h'),
  } satisfies Record<keyof SelfSignedProps, z.ZodType>)
  .refine(renewedInTime, RENEWAL)
  .refine(isSizeOfKey, SIZE)
  .refine(({ caDuration, duration }) => hours(caDuration) >= hours(duration), {
    path: ['caDuration'],
    message: 'expected no less than duration',
    ...afterOwnChecks('caDuration', 'duration'),
  });

const issuer = z
  .strictObject({
    kind: z.literal('issuer'),
    ...rotation,
    name: objectName,
    issuerKind: someText.default('Issuer'),
    group: domain.default(CERT_MANAGER),
  } satisfies Record<keyof IssuerProps, z.ZodType>)
  .refine(renewedInTime, RENEWAL)
  .refine(isSizeOfKey, SIZE)
  .refine(({ group, issuerKind }) => group !== CERT_MANAGER || ['Issuer', 'ClusterIssuer'].includes(issuerKind), {
    path: ['issuerKind'],
    message: `expected Issuer or ClusterIssuer, which are those of the group ${CERT_MANAGER}`,
    ...afterOwnChecks('group', 'issuerKind'),
  });

const secret = z.strictObject({
  kind: z.literal('secret'),
  serverSecret: objectName,
  caSecret: objectName.optional(),
  caBundle,
} satisfies Record<keyof SecretProps, z.ZodType>);

/** @internal */
export const certificateProps = z
  .discriminatedUnion('kind', [selfSigned, issuer, secret], 'expected self-signed, issuer or secret')
  .prefault({ kind: 'self-signed' });
