import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { AGENT_PRIORITY, HIGH_PRIORITY } from './names.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

const VALUE = 1_000_000;

/** The operator must run where a cluster is full, or nodes stay on old releases; it is still no part of the system itself. */
export class PriorityClasses extends Construct {
  /** Controller and apiserver: ahead in the queue, but no running pod has to leave for them. */
  readonly high: ApiObject;
  /** Agents: one small pod a node, which has nowhere else to go, so it may take the place of a lesser one. */
  readonly agent: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.high = addObject(
      this,
      'High',
      k8s.KubePriorityClass.manifest({
        metadata: globalMeta(settings, { name: HIGH_PRIORITY, component: 'controller' }),
        description: 'Controller and apiserver of the Bottlerocket update operator.',
        value: VALUE,
        preemptionPolicy: 'Never',
      }),
    );
    this.agent = addObject(
      this,
      'Agent',
      k8s.KubePriorityClass.manifest({
        metadata: globalMeta(settings, { name: AGENT_PRIORITY, component: 'agent' }),
        description: 'Agents of the Bottlerocket update operator, one on each managed node.',
        value: VALUE,
        preemptionPolicy: 'PreemptLowerPriority',
      }),
    );
  }
}
