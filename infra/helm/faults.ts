import { CERT_MANAGER } from '../props/certificates.ts';
import { SYSTEM_NAMESPACES } from '../props/fields.ts';
import { CERTIFICATES_KIND, optional, value } from './settings.ts';
import { call, Operand, type Tree } from './template.ts';

/** A mistake that the props refuse, but neither the schema nor the API server does. */
interface Fault {
  readonly where: Operand;
  readonly message: string;
}

const both = (...operands: readonly Tree[]): Operand => call('and', ...operands);
/** Lifetimes are whole hours. */
const hours = (lifetime: Operand): Operand => call('atoi', call('trimSuffix', 'h', lifetime));
const certificate = (field: string, fallback: Tree): Operand => optional(`certificates.${field}`, fallback);

const isManaged = call('ne', CERTIFICATES_KIND, 'secret');
const duration = hours(certificate('duration', '2160h'));
const serverSecret = certificate('serverSecret', '');

const FAULTS: readonly Fault[] = [
  {
    where: call('has', new Operand('.Release.Namespace'), [...SYSTEM_NAMESPACES]),
    message: 'the namespace: expected one of its own (its pods may be privileged, and it is deleted with the operator)',
  },
  {
    where: call('eq', call('toString', value('apiserver.internalPort')), call('toString', value('apiserver.httpPort'))),
    message: 'apiserver.httpPort: expected another port than internalPort',
  },
  {
    where: both(
      call('eq', optional('controller.schedule.kind', ''), 'window'),
      call('eq', optional('controller.schedule.start', ''), optional('controller.schedule.stop', '')),
    ),
    message: 'controller.schedule.stop: expected another time than start',
  },
  {
    where: both(isManaged, call('ge', hours(certificate('renewBefore', '720h')), duration)),
    message: 'certificates.renewBefore: expected less than duration',
  },
  {
    where: both(
      call('eq', CERTIFICATES_KIND, 'self-signed'),
      call('lt', hours(certificate('caDuration', '87600h')), duration),
    ),
    message: 'certificates.caDuration: expected no less than duration',
  },
  {
    where: both(
      call('eq', certificate('group', CERT_MANAGER), CERT_MANAGER),
      call('not', call('has', certificate('issuerKind', 'Issuer'), ['Issuer', 'ClusterIssuer'])),
    ),
    message: `certificates.issuerKind: expected Issuer or ClusterIssuer, which are those of the group ${CERT_MANAGER}`,
  },
  {
    where: both(
      call('eq', CERTIFICATES_KIND, 'secret'),
      value('apiserver.requireClientCertificate'),
      call('eq', certificate('caSecret', serverSecret), serverSecret),
    ),
    message: "certificates.caSecret: expected a Secret other than the server's, with a certificate for agents",
  },
];

/** A template that makes nothing, and fails where values contradict each other. */
export function faultsTemplate(): string {
  return FAULTS.map(
    ({ where, message }) =>
      `{{- if ${where.text.slice(1, -1)} }}\n{{- fail ${JSON.stringify(message)} }}\n{{- end }}\n`,
  ).join('');
}
