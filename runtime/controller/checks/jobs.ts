import { createHash } from 'node:crypto';
import { ConflictError } from '../../kube/errors.ts';
import { instantOf } from '../../lib/clock.ts';
import type { CronJob, Job, JobTemplate } from '../../kube/objects.ts';
import { cronJobsOf, jobsOf } from '../../kube/resources.ts';
import { GROUP } from '../../api/shadow/names.ts';
import type { JobCheck } from '../../api/policy/checks.ts';
import type { CheckAnswer, CheckTry } from '../plan/facts/checks.ts';
import { type Asked, subjectOf, unknown } from './subject.ts';

type JobTry = CheckTry & { readonly check: JobCheck };

/** Nodes that a Job is told of at most: an environment has its limit. */
const MOST_NODES = 200;
/** What a template does not say: people may look at a Job for so long. */
const TTL_S = 86_400;
/** A Job that is gone before its answer is read would be made again. */
const LEAST_TTL_S = 3600;

/** A Job is made once for each try, and has the whole time of one from then on. */
export async function askJob(
  { transport, namespace, clock }: Asked,
  one: JobTry,
  signal: AbortSignal,
): Promise<CheckAnswer | undefined> {
  const jobs = jobsOf(transport, namespace);
  const name = jobName(one);
  const job = await jobs.get(name, signal);
  if (job) return answerOf(job, one.check, clock.now());
  const { cronJob } = one.check;
  const template = await cronJobsOf(transport, namespace).get(cronJob, signal);
  if (!template) return unknown(`there is no CronJob ${cronJob}`);
  if (template.spec?.suspend !== true) return unknown(`the CronJob ${cronJob} is not suspended`);
  const seconds = Math.max(1, Math.ceil(one.check.timeoutMs / 1000));
  try {
    await jobs.create(jobFrom(template, one, { name, namespace, seconds }), signal);
  } catch (error) {
    // Another leader has made the same.
    if (!(error instanceof ConflictError)) throw error;
  }
  return undefined;
}

/** The same for every leader, and for no other try. */
const jobName = ({ id, check }: JobTry): string =>
  `brupop-${check.name.slice(0, 30).replace(/-$/, '')}-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;

function answerOf(
  { metadata: { name, creationTimestamp }, status }: Job,
  { timeoutMs }: JobCheck,
  now: number,
): CheckAnswer | undefined {
  const holds = status?.conditions?.filter((condition) => condition.status === 'True') ?? [];
  const failed = holds.find(({ type }) => type === 'Failed');
  if (failed) return { kind: 'failed', message: `Job ${name}: ${failed.reason ?? 'Failed'}: ${failed.message ?? ''}` };
  if (holds.some(({ type }) => type === 'Complete')) return { kind: 'passed', message: `Job ${name}` };
  const endsAt = (instantOf(creationTimestamp) ?? now) + timeoutMs;
  return endsAt <= now ? { kind: 'failed', message: 'it was not done in time' } : undefined;
}

interface Made {
  readonly name: string;
  readonly namespace: string;
  /** It is ended then. */
  readonly seconds: number;
}

/** As `kubectl create job --from` makes it. Its owner does not control it, or the history of the CronJob would take it away. */
function jobFrom({ metadata: { name: cronJob, uid }, spec }: CronJob, one: JobTry, made: Made): object {
  const { metadata, spec: own } = spec?.jobTemplate ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: made.name,
      namespace: made.namespace,
      labels: { ...metadata?.labels, [`${GROUP}/check`]: one.check.name },
      annotations: { ...metadata?.annotations, 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob, uid }],
    },
    spec: {
      ...own,
      ttlSecondsAfterFinished: Math.max(LEAST_TTL_S, own?.ttlSecondsAfterFinished ?? TTL_S),
      activeDeadlineSeconds: Math.min(made.seconds, own?.activeDeadlineSeconds ?? Infinity),
      template: withEnvironment(own?.template, one),
    },
  };
}

function withEnvironment(template: JobTemplate, one: JobTry): JobTemplate {
  const { version, variant, arch, policy, nodes } = subjectOf(one);
  const env = Object.entries({
    BRUPOP_CHECK: one.check.name,
    BRUPOP_VERSION: version,
    BRUPOP_VARIANT: variant,
    BRUPOP_ARCH: arch,
    BRUPOP_POLICY: policy,
    BRUPOP_NODES: nodes.slice(0, MOST_NODES).join(' '),
  }).map(([name, value]) => ({ name, value }));
  const names = new Set(env.map(({ name }) => name));
  const told = (containers: NonNullable<NonNullable<JobTemplate>['spec']>['containers'] = []) =>
    containers.map((own) => ({ ...own, env: [...(own.env ?? []).filter(({ name }) => !names.has(name)), ...env] }));
  const { spec } = template ?? {};
  if (!spec) return template;
  const before = spec.initContainers && { initContainers: told(spec.initContainers) };
  return { ...template, spec: { ...spec, ...before, containers: told(spec.containers) } };
}
