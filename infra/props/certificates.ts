import { z } from 'zod';
import { goHours, objectName } from './fields.ts';

const PEM = /^-----BEGIN CERTIFICATE-----\s[\s\S]+-----END CERTIFICATE-----\s*$/;

/** Where the apiserver's certificate comes from: a CA of the operator's own, an issuer of yours, or Secrets that exist. */
export type CertificateProps = SelfSignedProps | IssuerProps | SecretProps;

export interface RotationProps {
  /** Lifetime of the certificates, in hours. @default 2160h (90 days) */
  readonly duration?: string;
  /** How long before its end a certificate is renewed, in hours. @default 720h (30 days) */
  readonly renewBefore?: string;
}

export interface SelfSignedProps extends RotationProps {
  readonly kind: 'self-signed';
  /** Lifetime of the CA, in hours. @default 87600h (10 years) */
  readonly caDuration?: string;
}

export interface IssuerProps extends RotationProps {
  readonly kind: 'issuer';
  /** An issuer of yours that puts its CA into the Secrets as `ca.crt` (a public ACME one does not). */
  readonly name: string;
  /** @default Issuer */
  readonly issuerKind?: 'Issuer' | 'ClusterIssuer';
}

export interface SecretProps {
  readonly kind: 'secret';
  /** Secret with tls.crt, tls.key and ca.crt for `*.<namespace>.svc` and `*.<namespace>.svc.cluster.local`. */
  readonly serverSecret: string;
  /** Secret whose ca.crt the agents trust. @default serverSecret */
  readonly caSecret?: string;
  /** The CA in PEM: the API server trusts it when it calls the conversion webhook. */
  readonly caBundle: string;
}

const rotation = {
  duration: goHours.default('2160h'),
  renewBefore: goHours.default('720h'),
} satisfies Record<keyof RotationProps, z.ZodType>;

const renewedInTime = (props: { readonly duration: string; readonly renewBefore: string }): boolean =>
  Number.parseInt(props.renewBefore, 10) < Number.parseInt(props.duration, 10);

const RENEWAL = { path: ['renewBefore'], message: 'expected less than duration' };

const selfSigned = z
  .strictObject({
    kind: z.literal('self-signed'),
    ...rotation,
    caDuration: goHours.default('87600h'),
  } satisfies Record<keyof SelfSignedProps, z.ZodType>)
  .refine(renewedInTime, RENEWAL);

const issuer = z
  .strictObject({
    kind: z.literal('issuer'),
    ...rotation,
    name: objectName,
    issuerKind: z.enum(['Issuer', 'ClusterIssuer'], 'expected Issuer or ClusterIssuer').default('Issuer'),
  } satisfies Record<keyof IssuerProps, z.ZodType>)
  .refine(renewedInTime, RENEWAL);

const secret = z.strictObject({
  kind: z.literal('secret'),
  serverSecret: objectName,
  caSecret: objectName.optional(),
  caBundle: z.string('expected a certificate in PEM').regex(PEM, 'expected a certificate in PEM'),
} satisfies Record<keyof SecretProps, z.ZodType>);

export const certificateProps = z
  .discriminatedUnion('kind', [selfSigned, issuer, secret], 'expected self-signed, issuer or secret')
  .prefault({ kind: 'self-signed' });

export type CertificateSettings = z.output<typeof certificateProps>;
/** Those that cert-manager makes. */
export type ManagedCertificateSettings = Exclude<CertificateSettings, { kind: 'secret' }>;
