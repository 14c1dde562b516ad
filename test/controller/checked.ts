import { releasesOf } from '../../runtime/api/resources.ts';
import type { ReleaseStatus } from '../../runtime/api/release/model.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import type { Job } from '../../runtime/kube/objects.ts';
import { cronJobsOf, jobsOf } from '../../runtime/kube/resources.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

/** Two nodes under a policy with checks, a CronJob for these, and what is known of them. */

export const MINUTE = 60_000;
export const RELEASE = '1.1.0.aws-k8s-1.33.amd64';
export const SMOKE = { name: 'smoke', job: 'smoke-test', timeout: '10m' };

export interface Given {
  readonly spec: object;
  readonly suspend?: boolean;
  readonly cronJob?: string;
  /** Of the template. */
  readonly ttl?: number;
}

export async function withPolicy({ spec, suspend = true, cronJob = 'smoke-test', ttl }: Given): Promise<Checked> {
  const stage = await Stage.with('a', 'b');
  const container = { name: 'test', image: 'test', env: [{ name: 'BRUPOP_VERSION', value: 'mine' }] };
  const pods = { metadata: { labels: { app: 'smoke' } }, spec: { containers: [container], restartPolicy: 'Never' } };
  const jobs = { backoffLimit: 0, template: pods, ...(ttl !== undefined && { ttlSecondsAfterFinished: ttl }) };
  await cronJobsOf(stage.transport, NAMESPACE).create({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: cronJob, namespace: NAMESPACE },
    spec: { schedule: '0 0 1 1 *', suspend, jobTemplate: { spec: jobs } },
  });
  await definePolicies(stage, { all: { nodeSelector: {}, maxFailed: 5, ...spec } });
  await stage.pass(30_000);
  return new Checked(stage);
}

export class Checked {
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  async made(): Promise<readonly Job[]> {
    return jobsOf(this.stage.transport, NAMESPACE).list();
  }

  async release(): Promise<ReleaseStatus> {
    return (await releasesOf(this.stage.transport).get(RELEASE))?.status ?? {};
  }

  async underAll() {
    return (await this.release()).policies?.['all'];
  }

  async failed(): Promise<readonly string[]> {
    return Object.values((await this.release()).failures ?? {}).map(({ node, reason }) => `${node} ${reason}`);
  }

  async checks() {
    const all = Object.values((await this.underAll())?.checks ?? {});
    return all.map(({ tries, result, message }) => ({ tries, result, message }));
  }

  /** What the controller of Jobs says of those that have not ended. */
  async end(type: 'Complete' | 'Failed', message = 'it ended'): Promise<void> {
    const open = (await this.made()).filter(({ status }) => (status?.conditions ?? []).length === 0);
    for (const { metadata } of open) {
      const conditions = [{ type, status: 'True', reason: 'Ended', message }];
      await jobsOf(this.stage.transport, NAMESPACE).patchStatus(metadata.name, { status: { conditions } });
    }
    await this.stage.pass(15_000);
  }
}

export const verdictOn = (controller: Manager, name: string) =>
  controller.preview().verdicts.find(({ node }) => node === name);

export const envOf = ([job]: readonly Job[]): string | undefined =>
  job?.spec?.template?.spec?.containers[0]?.env?.map(({ name, value }) => `${name}=${value}`).join(' ');
