import * as z from 'zod';
import { agentEnv } from '../../runtime/agent/config.ts';
import { PUBLIC, repositories } from '../../runtime/api/waves/repositories.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { type AgentProps, agentProps, type AgentUpdateStrategy } from './agent.ts';
import { type ApiserverProps, apiserverProps } from './apiserver.ts';
import { type CertificateProps, certificateProps, type CertificateSettings } from './certificates.ts';
import { type ControllerProps, controllerProps } from './controller.ts';
import {
  annotationMap,
  choiceOf,
  cidr,
  domain,
  flag,
  labelValue,
  namespaceName,
  namespaceOrAny,
  afterOwnChecks,
  portFrom,
  someText,
  textOf,
} from './fields.ts';
import { type ImageProps, imageProps, type ImageSettings } from './image.ts';
import { type K3osProps, k3osProps, type K3osSettings } from './k3os.ts';
import { type NotificationProps, notificationProps, type NotificationSettings } from './notifications.ts';
import { policiesProp, type UpdatePolicyProps } from './policies.ts';
import type { Resources } from './resources.ts';
import type { ScheduleSettings } from './schedule.ts';
import { freeLabels, type WorkloadSettings } from './workload.ts';

/**
 * What a user of the constructs may say. The schemas check it and fill in the defaults; a tunable has its limits and its default from the
 * process that reads it, so that neither is stated twice.
 */
export interface BrupopProps {
  /**
   * Tells clusters apart: in notifications, and in an app that has manifests for several. Roles, the CRD and the priority classes exist
   * once in a cluster, so one cluster takes one operator. @default default
   */
  readonly cluster?: string;
  /** One of the operator's own. @default that of the chart it is in, else brupop-bottlerocket-aws */
  readonly namespace?: string;
  /** False where the namespace exists already; it then needs the label pod-security.kubernetes.io/enforce=privileged. @default true */
  readonly createNamespace?: boolean;
  /** False where somebody else installs the CustomResourceDefinitions of BottlerocketShadow, BottlerocketUpdatePolicy and BottlerocketRelease. @default true */
  readonly createCrd?: boolean;
  /**
   * Whether the operator brings priority classes: controller and apiserver are scheduled first, agents may preempt pods of lower priority.
   * @default true
   */
  readonly createPriorityClasses?: boolean;
  /** Annotations for the CustomResourceDefinitions alone, e.g. `argocd.argoproj.io/sync-options: Prune=false`. @default none */
  readonly crdAnnotations?: Readonly<Record<string, string>>;
  /**
   * Whether controller and apiserver may also be put on cordoned nodes. A drain of the operator leaves them where no other node could take
   * them, so they need it only where the last nodes in service can fail. With it, drains of other tools may never end: what they
   * evict may come back to the same node. @default false
   */
  readonly tolerateCordons?: boolean;
  /** The domain of the cluster's Services. @default cluster.local */
  readonly clusterDomain?: string;
  /** Value of the label app.kubernetes.io/instance. @default brupop */
  readonly instance?: string;
  /**
   * Whether pods with metrics bear the annotations `prometheus.io/scrape`, `port` and `path`. A Prometheus that goes by these and by those of the
   * Services would scrape each pod twice. @default false
   */
  readonly scrapePods?: boolean;
  /** Whether the Services bear the annotations `prometheus.io/scrape` and `port`. @default true */
  readonly scrapeServices?: boolean;
  /** The one image that holds all three processes. */
  readonly image?: ImageProps;
  readonly logging?: LoggingProps;
  /** Labels for every object and pod. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations for every object and pod. @default none */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly agent?: AgentProps;
  readonly apiserver?: ApiserverProps;
  readonly controller?: ControllerProps;
  /** Where the apiserver's certificate comes from. @default a CA of the operator's own, kept by cert-manager */
  readonly certificates?: CertificateProps;
  readonly networkPolicies?: NetworkPolicyProps;
  /** Nodes that run k3OS. @default they are nobody's */
  readonly k3os?: K3osProps;
  /**
   * Where it is read which releases there are and when they reach hosts. `{variant}` and `{arch}` may stand in the addresses. It only tells people;
   * an empty list reads none. @default Bottlerocket's public repository
   */
  readonly repositories?: readonly RepositoryProps[] | undefined;
  /** Who is told what happens, besides those who read Events. @default nobody */
  readonly notifications?: NotificationProps;
  /** What is decided for groups of nodes, one BottlerocketUpdatePolicy each. Nodes that none selects go by the settings of `controller`. @default none */
  readonly policies?: readonly UpdatePolicyProps[];
}

/** A repository of releases: that of a mirror, or of images of your own. */
export interface RepositoryProps {
  /** Address of its metadata, e.g. `https://mirror.example/metadata/{variant}/{arch}/`: what hosts have as `metadata-base-url`. */
  readonly metadata: string;
  /** What hosts have as `targets-base-url`. */
  readonly targets: string;
  /** The text of the root.json that is trusted. */
  readonly root?: string | undefined;
  /** Instead: the SHA-512 of the root.json at `rootUrl`. */
  readonly rootSha512?: string | undefined;
  /** @default https://cache.bottlerocket.aws/root.json */
  readonly rootUrl?: string | undefined;
  /** The only authorities that are trusted, PEM. @default those of Node */
  readonly caBundle?: string | undefined;
}

export interface LoggingProps {
  /** Shape of log lines. @default full */
  readonly format?: 'full' | 'compact' | 'pretty' | 'json';
  /** Whether log lines are coloured. @default false */
  readonly ansi?: boolean;
  /** Least level that is logged, or directives like `brupop=debug,info`. @default info */
  readonly filter?: string;
}

export interface NetworkPolicyProps {
  /** Whether there are network policies. @default false */
  readonly enabled?: boolean;
  /** Ports of the Kubernetes API as policies see them, behind its Service. @default [443, 6443] */
  readonly kubernetesApiPorts?: readonly number[];
  /**
   * Where the Kubernetes API's requests for conversions come from, which no selector of pods matches, e.g. `10.0.0.0/24`: with it, only they and
   * the agents reach the apiserver. @default everybody does
   */
  readonly kubernetesApiCidrs?: readonly string[] | undefined;
  /** The one namespace whose pods may read metrics. @default everybody may */
  readonly metricsNamespace?: string | undefined;
}

/** The props, complete: every value stated. */
export interface Settings extends Required<
  Omit<
    BrupopProps,
    | 'image'
    | 'logging'
    | 'agent'
    | 'apiserver'
    | 'controller'
    | 'certificates'
    | 'networkPolicies'
    | 'k3os'
    | 'notifications'
    | 'repositories'
  >
> {
  readonly image: ImageSettings;
  readonly logging: Required<LoggingProps>;
  readonly agent: WorkloadSettings<Omit<AgentProps, 'interfaceV1Resources' | 'updateStrategy'>> & {
    readonly interfaceV1Resources: Required<Resources>;
    readonly updateStrategy: Required<AgentUpdateStrategy>;
  };
  readonly apiserver: WorkloadSettings<ApiserverProps>;
  readonly controller: WorkloadSettings<Omit<ControllerProps, 'schedule'>> & { readonly schedule: ScheduleSettings };
  readonly certificates: CertificateSettings;
  readonly k3os: K3osSettings;
  readonly notifications: NotificationSettings;
  /** As the controller's variable has it. */
  readonly repositories: string;
  readonly networkPolicies: NetworkPolicyProps & Required<Pick<NetworkPolicyProps, 'enabled' | 'kubernetesApiPorts'>>;
}

const loggingProps = z.strictObject({
  format: choiceOf(agentEnv.LOGGING_FORMATTER),
  ansi: flag.default(agentEnv.LOGGING_ANSI_ENABLED.default === 'true'),
  filter: textOf(agentEnv.TRACING_FILTER_DIRECTIVE),
} satisfies Record<keyof LoggingProps, z.ZodType>);

const networkPolicyProps = z.strictObject({
  enabled: flag.default(false),
  kubernetesApiPorts: z.array(portFrom(1)).min(1, 'expected at least one port').readonly().default([443, 6443]),
  kubernetesApiCidrs: z.array(cidr).min(1, 'expected at least one range').readonly().optional(),
  metricsNamespace: namespaceOrAny.optional(),
} satisfies Record<keyof NetworkPolicyProps, z.ZodType>);

/** Agents mount `caSecret`. Were it the server's Secret, every node would have the server's key. */
const agentsHaveTheirOwn = ({ apiserver, certificates }: CertificateUse): boolean =>
  !apiserver.requireClientCertificate ||
  certificates.kind !== 'secret' ||
  (certificates.caSecret !== undefined && certificates.caSecret !== certificates.serverSecret);

interface CertificateUse {
  readonly apiserver: { readonly requireClientCertificate: boolean };
  readonly certificates: CertificateSettings;
}

/** @internal */
export const brupopProps = z
  .strictObject({
    cluster: someText.default('default'),
    namespace: namespaceName.default(NAMESPACE),
    createNamespace: flag.default(true),
    createCrd: flag.default(true),
    createPriorityClasses: flag.default(true),
    crdAnnotations: annotationMap.default({}),
    tolerateCordons: flag.default(false),
    clusterDomain: domain.default('cluster.local'),
    instance: labelValue.default('brupop'),
    scrapePods: flag.default(false),
    scrapeServices: flag.default(true),
    image: imageProps,
    logging: loggingProps.prefault({}),
    labels: freeLabels,
    annotations: annotationMap.default({}),
    agent: agentProps.prefault({}),
    apiserver: apiserverProps.prefault({}),
    controller: controllerProps.prefault({}),
    certificates: certificateProps,
    networkPolicies: networkPolicyProps.prefault({}),
    k3os: k3osProps.prefault({}),
    repositories: repositories.transform((list) => JSON.stringify(list)).default(PUBLIC),
    notifications: notificationProps.prefault({}),
    policies: policiesProp,
  } satisfies Record<keyof BrupopProps, z.ZodType>)
  .refine(agentsHaveTheirOwn, {
    path: ['certificates', 'caSecret'],
    message: "expected a Secret other than the server's, with a certificate for agents",
    ...afterOwnChecks('apiserver', 'certificates'),
  });
