import { X509Certificate } from 'node:crypto';
import type { Condition, CustomResourceDefinition } from '../../kube/objects.ts';
import { durationText, instantOf } from '../../lib/clock.ts';
import { crdsOf } from '../../kube/resources.ts';
import { CRD_NAME, STORAGE_VERSION } from '../../api/shadow/names.ts';
import type { Cluster } from '../command.ts';
import { RELEASE_CRD_NAME } from '../../api/release/names.ts';
import { ifAllowed } from '../reading.ts';
import type { Certificate, Facts } from './facts.ts';
import { type DoctorFinding, ok, problem, unknown } from './finding.ts';

/** Checks that shadows are stored in one version only, and that the cluster has the definitions of policies and releases. */
export function definitionFindings({
  definition,
  policyDefinition,
  releaseDefinition,
}: Facts): readonly DoctorFinding[] {
  if (definition.refused !== undefined)
    return [unknown('definitions', `you may not read CustomResourceDefinitions (${definition.refused})`)];
  const stored = definition.value?.status?.storedVersions ?? [];
  const older = stored.filter((version) => version !== STORAGE_VERSION);
  return [
    older.length === 0
      ? ok('definitions', `shadows are stored as ${STORAGE_VERSION} alone`)
      : problem('definitions', `shadows may still be stored as ${older.join(', ')}`, `${MIGRATION} ${UNREADABLE}`),
    policyDefinition.value || policyDefinition.refused !== undefined
      ? ok('definitions', 'the cluster knows update policies')
      : unknown(
          'definitions',
          'the cluster does not know update policies',
          'Apply the manifests, if you want to use them.',
        ),
    releaseDefinition.value || releaseDefinition.refused !== undefined
      ? ok('definitions', 'the cluster knows releases')
      : problem('definitions', 'the cluster does not know releases, so no update starts', DEFINE_RELEASES),
  ];
}

const DEFINE_RELEASES = `Apply the CustomResourceDefinition ${RELEASE_CRD_NAME} of this version: it is in dist/brupop.k8s.yaml.`;

const MIGRATION =
  'A leading controller moves them to the new version by itself. If not, its log says why. Shadows in another namespace keep the older version.';

const UNREADABLE =
  'Do not take the operator away before: nobody could read them, and no namespace of the cluster could be deleted.';

/** What blocks the deletion of every namespace where the operator is gone, and the way out. */
export async function unreadableFindings({ transport }: Cluster): Promise<readonly DoctorFinding[]> {
  const { value: definition } = await ifAllowed(crdsOf(transport).get(CRD_NAME), undefined);
  const { spec, status } = (definition ?? {}) as Partial<CustomResourceDefinition>;
  const older = (status?.storedVersions ?? []).filter((version) => version !== STORAGE_VERSION);
  if (older.length === 0 || spec?.conversion?.strategy !== 'Webhook') return [];
  const says = `shadows are stored as ${older.join(', ')}, and without the operator nobody can read them: no namespace of the cluster can be deleted`;
  return [problem('definitions', says, `Apply the manifests, or: \`${WITHOUT_WEBHOOK}\``)];
}

/** Lets the API server read shadows by itself. */
const WITHOUT_WEBHOOK = `kubectl patch crd ${CRD_NAME} --type merge --patch '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'`;

/** Checks the conversion webhook, and the CA bundle by which the API server verifies it. */
export function webhookFindings({ definition, conversionFault }: Facts, now: number): readonly DoctorFinding[] {
  const answered =
    conversionFault === undefined
      ? ok('webhook', 'shadows can be read as v1 and as v2')
      : problem('webhook', `shadows cannot be read as v1: ${conversionFault}`, WEBHOOK);
  return [
    answered,
    ...(definition.value ? (halfMoved(definition.value) ?? bundleFindings(definition.value, now)) : []),
  ];
}

const WEBHOOK =
  "The API server asks the apiserver to convert: look at the apiserver's pods, its Service and the definition's caBundle.";

function bundleFindings({ spec }: CustomResourceDefinition, now: number): readonly DoctorFinding[] {
  if (spec?.conversion?.strategy !== 'Webhook') return [];
  const text = Buffer.from(spec.conversion.webhook?.clientConfig?.caBundle ?? '', 'base64').toString('utf8');
  const pems = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (pems.length === 0) return [problem('webhook', "the definition's caBundle is empty", INJECTION)];
  const ends = pems.map((pem) => instantOf(endOf(pem)) ?? Infinity);
  return [expiry('webhook', "the authority in the definition's caBundle", { ends: Math.max(...ends), now })];
}

/** A definition whose CA comes from another namespace than the apiserver's. */
function halfMoved({ metadata, spec }: CustomResourceDefinition): readonly DoctorFinding[] | undefined {
  const from = metadata.annotations?.['cert-manager.io/inject-ca-from'];
  const home = spec?.conversion?.webhook?.clientConfig?.service?.namespace;
  if (from === undefined || home === undefined || from.startsWith(`${home}/`)) return undefined;
  return [problem('webhook', `its CA comes from ${from}, and the apiserver is in ${home}`, BY_HALVES)];
}

const BY_HALVES =
  'Something has changed the namespace by halves, as kustomize does without the replacements of docs/gitops.md. Certificates and roles have the other one too.';
const INJECTION = "cert-manager's cainjector writes it: look at its log.";

/** The end of a certificate; undefined where it cannot be read. */
function endOf(pem: string): string | undefined {
  try {
    return new Date(new X509Certificate(pem).validTo).toISOString();
  } catch {
    return undefined;
  }
}

/** Checks that cert-manager's certificates are ready and do not end soon. */
export function certificateFindings({ certificates }: Facts, now: number): readonly DoctorFinding[] {
  const { value, refused } = certificates;
  if (refused !== undefined)
    return [unknown('certificates', `you may not list cert-manager's Certificates (${refused})`)];
  if (!value || value.length === 0)
    return [
      unknown('certificates', 'cert-manager makes none of them, so only the apiserver knows when they end', METRIC),
    ];
  return value.map((one) => certificateFinding(one, now));
}

const METRIC = 'The metric brupop_apiserver_certificate_expiry_timestamp_seconds shows it.';

function certificateFinding({ metadata: { name }, status }: Certificate, now: number): DoctorFinding {
  const ready = status?.conditions?.find(({ type }: Condition) => type === 'Ready');
  if (ready?.status !== 'True')
    return problem(
      'certificates',
      `${name} is not ready: ${ready?.message ?? 'cert-manager says nothing'}`,
      CERT_MANAGER,
    );
  return expiry('certificates', name, { ends: instantOf(status?.notAfter) ?? Infinity, now });
}

const CERT_MANAGER = "`kubectl describe certificates`, and look at cert-manager's log.";

const SOON_MS = 7 * 24 * 3_600_000;

function expiry(
  check: string,
  what: string,
  { ends, now }: { readonly ends: number; readonly now: number },
): DoctorFinding {
  if (ends === Infinity) return unknown(check, `it is not known when ${what} ends`);
  if (ends <= now) return problem(check, `${what} ended ${durationText(now - ends)} ago`, CERT_MANAGER);
  const says = `${what} is good for ${durationText(ends - now)}`;
  return ends - now < SOON_MS ? problem(check, says, CERT_MANAGER) : ok(check, says);
}
