import { ApiObject } from 'cdk8s';

/** How a role binding names a service account. */
export interface ServiceAccountSubject {
  readonly kind: 'ServiceAccount';
  readonly name: string;
  readonly namespace?: string;
}

/** A service account that bindings of any cdk8s-plus can name, since it has what their `ISubject` asks for. */
export class ServiceAccount extends ApiObject {
  toSubjectConfiguration(): ServiceAccountSubject {
    const { namespace } = this.metadata;
    return { kind: 'ServiceAccount', name: this.name, ...(namespace !== undefined && { namespace }) };
  }
}
