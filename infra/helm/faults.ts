import { CRD_NAME } from '../../runtime/api/shadow/names.ts';
import { roleName } from '../names.ts';
import { CERT_MANAGER } from '../props/certificates.ts';
import { SYSTEM_NAMESPACES } from '../props/fields.ts';
import { NOTIFICATION_FAULTS } from './notifications.ts';
import { POLICY_FAULTS } from './policies.ts';
import { CERTIFICATES_KIND, COMPLETED, hours, optional, RENEW_BEFORE_HOURS, value } from './settings.ts';
import { call, Operand, type Tree } from './template.ts';

/** A mistake that the props refuse, but neither the schema nor the API server does. */
interface Fault {
  readonly where: Operand;
  readonly message: string;
}

const both = (...operands: readonly Tree[]): Operand => call('and', ...operands);
const certificate = (field: string, fallback: Tree): Operand => optional(`certificates.${field}`, fallback);

const schedule = (field: string): Operand => optional(`controller.schedule.${field}`, '');
const isSchedule = (kind: string): Operand => call('eq', schedule('kind'), kind);
const isSource = (kind: string): Operand => call('eq', CERTIFICATES_KIND, kind);
/** What a kind needs. Layers of values can leave fields of other kinds behind, so the schema cannot ask for it. */
const lacks = (kind: Operand, field: Operand): Operand => both(kind, call('empty', field));

const isManaged = call('ne', CERTIFICATES_KIND, 'secret');
const isEcdsa = call('eq', certificate('keyAlgorithm', 'RSA'), 'ECDSA');
const defaultSize = call('ternary', '256', '2048', isEcdsa);
const duration = hours(certificate('duration', '2160h'));
const serverSecret = certificate('serverSecret', '');

const FAULTS: readonly Fault[] = [
  {
    where: call('eq', call('toString', call('get', new Operand('$values'), 'enabled')), 'false'),
    message: 'enabled: expected a condition of the chart that depends on this one',
  },
  {
    where: both(value('controller.schedule'), call('empty', schedule('kind'))),
    message: 'controller.schedule.kind: expected cron or window',
  },
  {
    where: lacks(isSchedule('cron'), schedule('expression')),
    message: 'controller.schedule.expression: expected seven fields, second to year',
  },
  { where: lacks(isSchedule('window'), schedule('start')), message: 'controller.schedule.start: expected HH:MM:SS' },
  { where: lacks(isSchedule('window'), schedule('stop')), message: 'controller.schedule.stop: expected HH:MM:SS' },
  {
    where: lacks(isSource('issuer'), certificate('name', '')),
    message: 'certificates.name: expected that of an issuer',
  },
  {
    where: lacks(isSource('secret'), serverSecret),
    message: 'certificates.serverSecret: expected the name of a Secret',
  },
  {
    where: lacks(isSource('secret'), certificate('caBundle', '')),
    message: 'certificates.caBundle: expected certificates in PEM, and nothing else in PEM',
  },
  {
    where: call('has', new Operand('.Release.Namespace'), [...SYSTEM_NAMESPACES]),
    message: 'the namespace: expected one of its own (its pods may be privileged, and it is deleted with the operator)',
  },
  {
    where: call('eq', call('toString', value('apiserver.internalPort')), call('toString', value('apiserver.httpPort'))),
    message: 'apiserver.httpPort: expected another port than internalPort',
  },
  {
    where: both(isSchedule('window'), call('eq', schedule('start'), schedule('stop'))),
    message: 'controller.schedule.stop: expected another time than start',
  },
  {
    where: both(isManaged, call('ge', RENEW_BEFORE_HOURS, duration)),
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
      isManaged,
      call('ne', isEcdsa, call('has', call('toString', certificate('keySize', defaultSize)), ['256', '384'])),
    ),
    message: 'certificates.keySize: expected 2048, 3072 or 4096, of ECDSA 256 or 384',
  },
  {
    where: both(
      isSource('issuer'),
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

/**
 * A release that this one takes over must not be uninstalled afterwards: Helm goes by its record, and would delete the objects of that name, the
 * definition among them. Below `helm template` there is no cluster to look at.
 */
const OTHER_RELEASES = `{{- $owned := list (lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "${roleName('controller')}") }}
{{- if $values.createCrd }}
{{- $owned = append $owned (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "${CRD_NAME}") }}
{{- end }}
{{- range $owned }}
{{- $name := dig "metadata" "annotations" "meta.helm.sh/release-name" "" . }}
{{- $namespace := dig "metadata" "annotations" "meta.helm.sh/release-namespace" "" . }}
{{- if and $name (ne (printf "%s/%s" $namespace $name) (printf "%s/%s" $.Release.Namespace $.Release.Name)) }}
{{- range (lookup "v1" "Secret" $namespace "").items }}
{{- if and (eq (dig "metadata" "labels" "owner" "" .) "helm") (eq (dig "metadata" "labels" "name" "" .) $name) }}
{{- fail (printf "the release %s in the namespace %s: uninstalled later, it would delete what this release takes over from it, and every shadow. First delete its record, not the release: kubectl delete secret --namespace %s --selector owner=helm,name=%s" $name $namespace $namespace $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
`;

/** A template that makes nothing, and fails where values contradict each other. */
export function faultsTemplate(): string {
  const checks = FAULTS.map(
    ({ where, message }) =>
      `{{- if ${where.text.slice(1, -1)} }}\n{{- fail ${JSON.stringify(message)} }}\n{{- end }}\n`,
  );
  return COMPLETED + checks.join('') + NOTIFICATION_FAULTS + POLICY_FAULTS + OTHER_RELEASES;
}
