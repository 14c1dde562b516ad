import { type ApiObject, App, Chart, YamlOutputType } from 'cdk8s';
import { Construct } from 'constructs';
import { Agent } from './agent.ts';
import { K3osAgent } from './agent-k3os.ts';
import { UpdogAgent } from './agent-updog.ts';
import { Apiserver } from './apiserver.ts';
import { Certificates } from './certificates.ts';
import { addChannelCrd } from './channel-crd.ts';
import { Controller } from './controller.ts';
import { addShadowCrd } from './crd.ts';
import { addNamespace } from './namespace.ts';
import { NetworkPolicies } from './network-policies.ts';
import { addNotifications } from './notifications.ts';
import { PriorityClasses } from './priority.ts';
import { addPolicyCrd } from './policy-crd.ts';
import { addReleaseCrd } from './release-crd.ts';
import { UpdatePolicy } from './policy.ts';
import { globalMeta } from './objects.ts';
import type { BrupopProps, Settings } from './props/brupop.ts';
import type { UpdatePolicyProps } from './props/policies.ts';
import { settingsOf } from './props/settings.ts';
import { warningsOf } from './warnings.ts';

/** Two operators in one app, the second of which would overwrite objects of the first: in one cluster, or in the files of the app. */
export class DuplicateOperatorError extends Error {
  override readonly name = 'DuplicateOperatorError';
  /** @param cluster that both are for; undefined where they have files in common alone */
  constructor(cluster: string | undefined, paths: readonly [first: string, second: string]) {
    super(`"${paths[0]}" and "${paths[1]}" ${cluster === undefined ? SAME_FILES : sameCluster(cluster)}`);
  }
}

const SAME_FILES =
  'would write the same files, since YamlOutputType.FILE_PER_RESOURCE names them by kind and name. For several clusters take FOLDER_PER_CHART_FILE_PER_RESOURCE.';

const sameCluster = (cluster: string): string =>
  `are both for the cluster "${cluster}", and a cluster has one operator, ` +
  'since roles, CRD and priority classes exist once in it. For different clusters give each its own prop `cluster`.';

/**
 * Returns the settings where no other operator is for the same cluster. Like the props, this is checked before any construct exists, so
 * that an app that survives the refusal is unchanged.
 * @param id of the operator in `scope`
 * @throws DuplicateOperatorError
 * @internal
 */
export function admitted(scope: Construct, id: string, settings: Settings): Settings {
  const { root } = scope.node;
  const others = root.node.findAll().filter((node) => node instanceof Brupop);
  const own = [scope.node.path, id].filter(Boolean).join('/');
  const same = others.find((node) => node.settings.cluster === settings.cluster);
  if (same) throw new DuplicateOperatorError(settings.cluster, [same.node.path, own]);
  const [other] = others;
  if (other && root instanceof App && root.yamlOutputType === YamlOutputType.FILE_PER_RESOURCE)
    throw new DuplicateOperatorError(undefined, [other.node.path, own]);
  return settings;
}

/** The whole operator. Its parts are public, so that patches reach every object. */
export class Brupop extends Construct {
  readonly settings: Settings;
  /** Combinations of props that can hurt; also metadata `brupop/warning` of this construct, and warnings of the process. */
  readonly warnings: readonly string[];
  /** Undefined where the namespace is somebody else's. */
  readonly namespace: ApiObject | undefined;
  /** Undefined where the operator brings none. */
  readonly priorityClasses: PriorityClasses | undefined;
  /** Undefined where it is somebody else's. */
  readonly crd: ApiObject | undefined;
  /** That of the policies. Undefined where it is somebody else's. */
  readonly policyCrd: ApiObject | undefined;
  /** That of the releases. Undefined where it is somebody else's. */
  readonly releaseCrd: ApiObject | undefined;
  /** That of k3OS' UpdateChannels. Undefined unless asked for, or where it is somebody else's. */
  readonly channelCrd: ApiObject | undefined;
  /** Undefined where the Secrets are ready-made. */
  readonly certificates: Certificates | undefined;
  readonly apiserver: Apiserver;
  readonly controller: Controller;
  readonly agent: Agent;
  /** Undefined unless asked for. */
  readonly updogAgent: UpdogAgent | undefined;
  /** Undefined unless asked for. */
  readonly k3osAgent: K3osAgent | undefined;
  /** What the controller reads of whom to notify. Undefined where nobody is notified. */
  readonly notifications: ApiObject | undefined;
  /** In the order of the prop. */
  readonly policies: readonly UpdatePolicy[];
  /** Undefined unless asked for. */
  readonly networkPolicies: NetworkPolicies | undefined;

  /**
   * @throws InvalidPropsError naming every fault of the props
   * @throws DuplicateOperatorError where the app has another operator for the same cluster
   */
  constructor(scope: Construct, id: string, props: BrupopProps = {}) {
    const settings = admitted(scope, id, settingsOf(props, Chart.of(scope)));
    super(scope, id);
    this.settings = settings;
    this.warnings = warningsOf(settings);
    for (const warning of this.warnings) {
      this.node.addMetadata('brupop/warning', warning);
      process.emitWarning(`${this.node.path}: ${warning}`, 'BrupopWarning');
    }

    this.namespace = settings.createNamespace ? addNamespace(this, 'Namespace', settings) : undefined;
    this.priorityClasses = settings.createPriorityClasses
      ? new PriorityClasses(this, 'PriorityClasses', settings)
      : undefined;
    this.crd = this.#definition('Crd', addShadowCrd);
    this.policyCrd = this.#definition('PolicyCrd', addPolicyCrd);
    this.releaseCrd = this.#definition('ReleaseCrd', addReleaseCrd);
    this.channelCrd = settings.k3os.enabled ? this.#definition('ChannelCrd', addChannelCrd) : undefined;
    this.certificates = this.#certificates();
    this.apiserver = new Apiserver(this, 'Apiserver', settings);
    this.controller = new Controller(this, 'Controller', settings);
    this.agent = new Agent(this, 'Agent', settings);
    this.k3osAgent = settings.k3os.enabled ? new K3osAgent(this, 'K3osAgent', settings) : undefined;
    this.updogAgent = settings.agent.interfaceV1 ? new UpdogAgent(this, 'UpdogAgent', settings) : undefined;
    this.notifications = addNotifications(this, 'Notifications', settings);
    this.networkPolicies = settings.networkPolicies.enabled
      ? new NetworkPolicies(this, 'NetworkPolicies', settings)
      : undefined;
    this.policies = settings.policies.map((policy) => this.#policy(policy));
  }

  #certificates(): Certificates | undefined {
    const { settings } = this;
    const source = settings.certificates;
    return source.kind === 'secret' ? undefined : new Certificates(this, 'Certificates', { settings, source });
  }

  /** Undefined where somebody else installs the definitions. */
  #definition(id: string, add: typeof addShadowCrd): ApiObject | undefined {
    return this.settings.createCrd ? add(this, id, this.settings) : undefined;
  }

  /** With the labels and annotations that every object of the operator has. */
  #policy(props: UpdatePolicyProps): UpdatePolicy {
    const policy = new UpdatePolicy(this, `Policy-${props.name}`, props);
    const { labels, annotations } = globalMeta(this.settings, { name: props.name });
    for (const [key, value] of Object.entries(labels ?? {})) policy.object.metadata.addLabel(key, value);
    for (const [key, value] of Object.entries(annotations ?? {})) policy.object.metadata.addAnnotation(key, value);
    return policy;
  }
}
