import * as z from 'zod';
import { cyclesIn } from '../../runtime/api/policy/cycles.ts';
import { policyFields } from '../../runtime/api/policy/spec.ts';
import { AMONG_ITEMS, objectName, afterOwnChecks } from './fields.ts';
import type { LabelSelector } from './scheduling.ts';

/**
 * What is decided for a group of nodes: the name of a BottlerocketUpdatePolicy and its spec. What is omitted has the value that the
 * controller has for the whole fleet.
 */
export interface UpdatePolicyProps {
  /** Of the resource. Policies live in no namespace. */
  readonly name: string;
  /** Which managed nodes it selects; `{}` selects every one. */
  readonly nodeSelector: LabelSelector;
  /** The policy of the highest priority that selects a node rules it, whole; nothing is merged. @default 0 */
  readonly priority?: number | undefined;
  /** Nothing starts. @default false */
  readonly paused?: boolean | undefined;
  /** Nodes that may be updating at once: a number up to 600, a percentage of those that it rules, or `unlimited`. @default `controller.maxConcurrentUpdate` */
  readonly maxConcurrent?: number | string | undefined;
  /** Nodes of a family (variant and architecture) that may fail on a release before it is halted: a number, a percentage or `unlimited`. @default `controller.maxFailedUpdate` */
  readonly maxFailed?: number | string | undefined;
  /** From the end of an update to the next start, e.g. `30m`. @default 0s */
  readonly pauseBetween?: string | undefined;
  /** From the end of a node's last finished update to its next start, e.g. `336h`. @default 0s */
  readonly minInterval?: string | undefined;
  /** By when a release is to be complete, from its first offer on, e.g. `336h`: it forces nothing, and is told where it cannot be. @default no date */
  readonly completeWithin?: string | undefined;
  /** How many zones are disturbed at once. @default any number of zones by topology.kubernetes.io/zone */
  readonly zones?: PolicyZones | undefined;
  /** When updates may start: any of them opens, and an empty list is always open. @default `controller.schedule` */
  readonly windows?: readonly PolicyWindow[] | undefined;
  /** `strict`: no update starts that would not be done before the window closes. @default `controller.schedule.windowFit` */
  readonly windowFit?: 'off' | 'strict' | undefined;
  /** Times in which nothing starts, whatever the windows say. @default none */
  readonly freezes?: readonly PolicyFreeze[] | undefined;
  /** Which releases start, and since when they must have been offered. @default `controller.minReleaseAgeInSec`, `controller.maxVersion` */
  readonly version?: PolicyVersion | undefined;
  /** What a release needs before more of it starts. @default `controller.proofNodes` nodes, without a soak */
  readonly proof?: PolicyProof | undefined;
  /** What has to pass for each node, before its drain and after its update. @default none */
  readonly checks?: PolicyNodeChecks | undefined;
  /** Names of the policies where a release must be complete before it starts here, and of places outside of the cluster where it must be proven. @default none */
  readonly after?: readonly (string | PolicyExternal)[] | undefined;
  /** `Required`: a person approves each release first. @default NotRequired */
  readonly approval?: 'Required' | 'NotRequired' | undefined;
  /** `Rollback`: nodes that run a release which was halted for its failures go back to the version before. @default Halt */
  readonly onFailure?: 'Halt' | 'Rollback' | undefined;
  /** `wait`: no drain begins before there is room elsewhere for the pods that it moves. @default warn */
  readonly capacity?: 'warn' | 'wait' | undefined;
  /** Conditions and taints by which a node counts as not Ready, for soak, proof and budgets. @default none */
  readonly unwell?: readonly PolicyUnwell[] | undefined;
  /** Nodes that wait for a proven release bear the taint `brupop.bottlerocket.aws/waiting:PreferNoSchedule`, so that evicted pods go to nodes that are done. @default false */
  readonly preferUpdated?: boolean | undefined;
  /** How long a node must be Ready after its update, e.g. `5m`. @default `controller.monitoringTimeInSec` */
  readonly nodeSoak?: string | undefined;
  /** Whose work finishes, on the cordoned node, before its drain begins. @default nobody's */
  readonly drain?: PolicyDrain | undefined;
  /** How long the update waits, once the node is back, until the workloads that its drain has moved run again; `0s` = not at all. @default `controller.settleTimeInSec` */
  readonly settle?: string | undefined;
  /** What does not run again by then counts as a failure of the update. @default `controller.settleFails` */
  readonly settleFails?: boolean | undefined;
}

/** `waitFor`, `honorDoNotDisrupt` or both. */
export interface PolicyDrain {
  /** Labels of pods that are let finish; `{}` is every pod that is evicted. @default none */
  readonly waitFor?: LabelSelector | undefined;
  /** So are pods with `karpenter.sh/do-not-disrupt: "true"` or `cluster-autoscaler.kubernetes.io/safe-to-evict: "false"`. @default false */
  readonly honorDoNotDisrupt?: boolean | undefined;
  /** For how long at most. Then they are evicted as others are. @default 24h */
  readonly upTo?: string | undefined;
}

/** Nodes with the same value of a label are a zone; those without the label are one of their own. */
export interface PolicyZones {
  /** The label. @default topology.kubernetes.io/zone */
  readonly key?: string | undefined;
  /** Zones in which nodes may be updating at once; 1 = one zone after the other. @default unlimited */
  readonly atOnce?: number | 'unlimited' | undefined;
}

export interface PolicyWindow {
  /** When it opens: five cron fields, minute to day of the week, as CronJobs have them (Sunday is 0). */
  readonly start: string;
  /** For how long, e.g. `4h` or `1h30m`. */
  readonly duration: string;
  /** IANA time zone of the start, e.g. `Europe/Berlin`. @default UTC */
  readonly timeZone?: string | undefined;
}

export interface PolicyFreeze {
  /** RFC 3339, e.g. `2026-12-18T00:00:00Z`. */
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  /** For people. */
  readonly reason?: string | undefined;
  /** Releases that people have expedited start all the same. @default false */
  readonly exceptExpedited?: boolean | undefined;
}

/** `exact` and `max` exclude each other. */
export interface PolicyVersion {
  /** How long a release must have been offered in this cluster, e.g. `336h`. @default `controller.minReleaseAgeInSec` */
  readonly minAge?: string | undefined;
  /** No version above it starts, e.g. `1.62.0`; `latest` = no limit. @default `controller.maxVersion` */
  readonly max?: string | undefined;
  /** The one version that starts, be it older than what runs. @default any */
  readonly exact?: string | undefined;
  /** Hosts wait for no wave of a release. @default false */
  readonly ignoreWaves?: boolean | undefined;
}

/** Another place: a cluster, or a stage of a pipeline, which BottlerocketReleases name in `provenIn`. */
export interface PolicyExternal {
  readonly external: string;
}

/** A condition, or a taint. */
export interface PolicyUnwell {
  /** The type of a condition of the Node, e.g. `StorageReady`. */
  readonly condition?: string | undefined;
  /** The status that is bad, as Unknown is. @default True */
  readonly status?: 'True' | 'False' | undefined;
  /** The key of a taint, with any effect. */
  readonly taint?: string | undefined;
}

export interface PolicyProof {
  /** Nodes of a family that must run a release and be well: a number up to 600, or a percentage. @default `controller.proofNodes` */
  readonly nodes?: number | string | undefined;
  /** For how long, e.g. `24h`. @default 0s */
  readonly soak?: string | undefined;
  /** A label: nodes of each of its values prove a release for themselves, e.g. node.kubernetes.io/instance-type. @default all nodes together */
  readonly per?: string | undefined;
  /** Once it is proven, as many times the nodes that have been well on it for the soak update at once, e.g. 2. @default no limit */
  readonly widen?: number | undefined;
  /** `fail`: a node whose pods are clearly worse than on nodes that were not updated has failed on the release. @default warn */
  readonly compare?: 'warn' | 'fail' | undefined;
  /** What has to pass besides, once they have been well for as long. One that fails halts the release there. @default none */
  readonly checks?: readonly PolicyCheck[] | undefined;
}

export interface PolicyNodeChecks {
  /** Before its drain. One that fails leaves the node as it is, for an hour. @default none */
  readonly before?: readonly PolicyCheck[] | undefined;
  /** Once it is back and Ready. One that fails counts as a failure of the update. @default none */
  readonly after?: readonly PolicyCheck[] | undefined;
}

/** One of `job`, `query` and `condition`. */
export interface PolicyCheck {
  /** No other check of the list has it. */
  readonly name: string;
  /** A suspended CronJob in the operator's namespace, of which a Job is made. Needs `controller.checkJobs`. */
  readonly job?: string | undefined;
  /** In PromQL. Each value has to be within the bounds. Needs `controller.prometheusUrl`. */
  readonly query?: string | undefined;
  /** With a query: each value has to be above it. */
  readonly above?: number | undefined;
  /** With a query: each value has to be below it. */
  readonly below?: number | undefined;
  /** Needs `controller.checkObjects`. */
  readonly condition?: PolicyCheckCondition | undefined;
  /** How long a try may take. @default 10m */
  readonly timeout?: string | undefined;
  /** Tries after the first one that has failed. @default 0 */
  readonly retries?: number | undefined;
  /** What it means that nobody can say: `Wait` asks again until the timeout, and has failed then. @default Wait */
  readonly unknown?: 'Wait' | 'Fail' | 'Pass' | undefined;
}

/** That an object has to have in its status. */
export interface PolicyCheckCondition {
  /** e.g. `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Of an object that lives in one. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** e.g. `Available`. */
  readonly type: string;
  /** @default True */
  readonly status?: 'True' | 'False' | 'Unknown' | undefined;
}

/** @internal */
export const updatePolicyProps = z
  .strictObject({
    ...policyFields,
    name: objectName,
    // That kubectl's YAML makes a boolean of `off` is no matter here.
    windowFit: z.enum(['off', 'strict'], 'expected one of off, strict').optional(),
  } satisfies Record<keyof UpdatePolicyProps, z.ZodType>)
  .refine(({ name, after = [] }) => !after.includes(name), {
    path: ['after'],
    message: 'expected other policies than itself',
    ...afterOwnChecks('name', 'after'),
  });

/** The names in a policy that may have faults of its own: its own, or '', and those that it waits for, by their place. */
function namesIn(policy: unknown): { readonly name: string; readonly after: readonly (readonly [number, string])[] } {
  const { name, after } = (policy ?? {}) as Readonly<Record<string, unknown>>;
  const others = Array.isArray(after) ? after.map((other: unknown, place) => [place, other] as const) : [];
  return {
    name: typeof name === 'string' ? name : '',
    after: others.filter((one): one is readonly [number, string] => typeof one[1] === 'string'),
  };
}

/** All policies of an app: they name each other. @internal */
export const policiesProp = z
  .array(updatePolicyProps)
  .readonly()
  .superRefine((given, context) => {
    const fault = (path: readonly PropertyKey[], message: string): void =>
      context.addIssue({ code: 'custom', path: [...path], message: `expected ${message}` });
    const policies = given.map(namesIn);
    const names = policies.map(({ name }) => name);
    const known = names.filter((name) => name !== '');
    for (const [index, { name, after }] of policies.entries()) {
      if (name !== '' && names.indexOf(name) < index) fault([index, 'name'], 'a name that no other policy has');
      for (const [place, other] of after) {
        if (!known.includes(other)) fault([index, 'after', place], `one of ${known.join(', ')}`);
      }
    }
    const others = policies
      .filter(({ name }, index) => names.indexOf(name) === index)
      .map(({ name, after }) => [name, after.flatMap(([, other]) => (other === name ? [] : other))] as const);
    const told = new Set<string>();
    for (const [name, cycle] of cyclesIn(new Map(others))) {
      if (told.has(name)) continue;
      for (const one of cycle) told.add(one);
      fault([names.indexOf(name), 'after'], `no cycle (${cycle.join(', ')} wait for each other)`);
    }
  }, AMONG_ITEMS)
  .default([]);
