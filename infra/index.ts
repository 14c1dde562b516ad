/**
 * What the package offers to cdk8s apps. Every declaration in these files, and in files that their types lead to, is exported here or
 * marked as internal. The parts of an operator are exported as types only, because none of them is of use without the others.
 */
export type { Access } from './access.ts';
export type { Agent } from './agent.ts';
export type { K3osAgent } from './agent-k3os.ts';
export type { UpdogAgent } from './agent-updog.ts';
export type { Apiserver } from './apiserver.ts';
export { Brupop, DuplicateOperatorError } from './brupop.ts';
export type { Authority, Certificates } from './certificates.ts';
export { BrupopChart } from './chart.ts';
export type { Controller } from './controller.ts';
export { Alerts, type AlertsProps } from './monitoring/alerts.ts';
export { Dashboard, type DashboardProps } from './monitoring/dashboard.ts';
export { Monitors, type MonitorsProps } from './monitoring/monitors.ts';
export { PrometheusSample, type PrometheusSampleProps } from './monitoring/prometheus-sample.ts';
export type { NetworkPolicies } from './network-policies.ts';
export { PeopleRoles, type PeopleRolesProps } from './people.ts';
export { UpdatePolicy } from './policy.ts';
export type { PriorityClasses } from './priority.ts';
export type { AgentProps, AgentUpdateStrategy } from './props/agent.ts';
export type { ApiserverProps } from './props/apiserver.ts';
export type { BrupopProps, LoggingProps, NetworkPolicyProps, RepositoryProps, Settings } from './props/brupop.ts';
export type {
  CertificateProps,
  CertificateSettings,
  CertificateSubject,
  IssuerProps,
  KeyUsage,
  ManagedCertificateSettings,
  OptionalCertificateProp,
  RotationProps,
  SecretProps,
  SecretTemplate,
  SelfSignedProps,
} from './props/certificates.ts';
export type { CheckedObjects, ControllerProps } from './props/controller.ts';
export type { K3osProps, K3osSettings } from './props/k3os.ts';
export type {
  NotificationKind,
  NotificationProps,
  NotificationSettings,
  NotificationTargetProps,
  NotificationTargetSettings,
  SilenceMatcher,
  SilencerProps,
  SilencerSettings,
} from './props/notifications.ts';
export type { ImageProps, ImageSettings } from './props/image.ts';
export type {
  PolicyCheck,
  PolicyCheckCondition,
  PolicyDrain,
  PolicyExternal,
  PolicyFreeze,
  PolicyNodeChecks,
  PolicyProof,
  PolicyUnwell,
  PolicyVersion,
  PolicyWindow,
  PolicyZones,
  UpdatePolicyProps,
} from './props/policies.ts';
export type { ResourceList, Resources } from './props/resources.ts';
export type {
  LabelSelector,
  LabelSelectorRequirement,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PreferredNodes,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from './props/scheduling.ts';
export type { CronProps, ScheduleProps, ScheduleSettings, WindowProps } from './props/schedule.ts';
export { InvalidPropsError } from './props/settings.ts';
export type { OptionalProp, ServedProps, Toleration, WorkloadProps, WorkloadSettings } from './props/workload.ts';
export type { ServiceAccount, ServiceAccountSubject } from './service-account.ts';
