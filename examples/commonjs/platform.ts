// The operator as a part of a chart that has more in it, in its namespace, with a patch for what has no prop.
import { Chart, JsonPatch } from 'cdk8s';
import { ConfigMap } from 'cdk8s-plus-28';
import { Brupop } from 'cdk8s-brupop';
import type { Construct } from 'constructs';

export class Platform extends Chart {
  constructor(scope: Construct) {
    super(scope, 'platform', { namespace: 'platform', labels: { team: 'platform' } });
    new ConfigMap(this, 'Motd', {
      metadata: { name: 'motd' },
      data: { motd: 'Updated weekly.' },
    });
    const brupop = new Brupop(this, 'Updates', {
      createNamespace: false,
      certificates: { kind: 'issuer', name: 'platform-ca', issuerKind: 'ClusterIssuer' },
    });
    brupop.controller.deployment.addJsonPatch(JsonPatch.add('/spec/revisionHistoryLimit', 2));
  }
}
