import * as z from 'zod';
import { caBundle } from './ca-bundle.ts';
import { dnsName, domain, goHours, objectName, onceWell, someText } from './fields.ts';

/** Where the apiserver's certificate comes from: a CA of the operator's own, an issuer of yours, or Secrets that exist. */
export type CertificateProps = SelfSignedProps | IssuerProps | SecretProps;

/** The same with every default. */
export type CertificateSettings = ManagedCertificateSettings | SecretProps;
/** Certificates that cert-manager makes. */
export type ManagedCertificateSettings = Required<SelfSignedProps> | Required<IssuerProps>;

/** Settings of every certificate that cert-manager makes. */
export interface RotationProps {
  /** Lifetime of the certificates, in hours. @default 2160h (90 days) */
  readonly duration?: string;
  /** How long before its end a certificate is renewed, in hours. @default 720h (30 days) */
  readonly renewBefore?: string;
  /** Bits of their RSA keys; that of the operator's own CA keeps its 2048, or an existing one could not be renewed. @default 2048 */
  readonly keySize?: 2048 | 3072 | 4096;
  /** Names besides those of the operator's Services. @default none */
  readonly dnsNames?: readonly string[];
}

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

const rotation = {
  duration: goHours.default('2160h'),
  renewBefore: goHours.default('720h'),
  keySize: z.literal([2048, 3072, 4096], 'expected 2048, 3072 or 4096').default(2048),
  dnsNames: z.array(dnsName).readonly().default([]),
} satisfies Record<keyof RotationProps, z.ZodType>;

const hours = (lifetime: string): number => Number.parseInt(lifetime, 10);

const renewedInTime = (props: Required<RotationProps>): boolean => hours(props.renewBefore) < hours(props.duration);

const RENEWAL = {
  path: ['renewBefore'],
  message: 'expected less than duration',
  ...onceWell('renewBefore', 'duration'),
};

const selfSigned = z
  .strictObject({
    kind: z.literal('self-signed'),
    ...rotation,
    caDuration: goHours.default('87600h'),
  } satisfies Record<keyof SelfSignedProps, z.ZodType>)
  .refine(renewedInTime, RENEWAL)
  .refine(({ caDuration, duration }) => hours(caDuration) >= hours(duration), {
    path: ['caDuration'],
    message: 'expected no less than duration',
    ...onceWell('caDuration', 'duration'),
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
  .refine(({ group, issuerKind }) => group !== CERT_MANAGER || ['Issuer', 'ClusterIssuer'].includes(issuerKind), {
    path: ['issuerKind'],
    message: `expected Issuer or ClusterIssuer, which are those of the group ${CERT_MANAGER}`,
    ...onceWell('group', 'issuerKind'),
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
