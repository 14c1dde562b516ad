import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { POLICY_API_VERSION, POLICY_KIND } from '../runtime/api/policy/names.ts';
import { addObject } from './objects.ts';
import { type UpdatePolicyProps, updatePolicyProps } from './props/policies.ts';
import { checkProps } from './props/settings.ts';

/** A BottlerocketUpdatePolicy. The cluster must know the definition before it takes the policy. */
export class UpdatePolicy extends Construct {
  readonly name: string;
  readonly object: ApiObject;

  /** @throws InvalidPropsError naming every fault of the props */
  constructor(scope: Construct, id: string, props: UpdatePolicyProps) {
    const { name, ...spec } = checkProps(updatePolicyProps, props);
    super(scope, id);
    this.name = name;
    this.object = addObject(this, 'Policy', {
      apiVersion: POLICY_API_VERSION,
      kind: POLICY_KIND,
      metadata: { name },
      spec,
    });
  }
}
