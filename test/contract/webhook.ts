import { once } from 'node:events';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { systemClock } from '../../runtime/lib/clock.ts';
import { at, fields } from '../../lab/sim/cluster/object.ts';
import { createCa } from '../../lab/sim/cluster/pki.ts';
import type { Contract } from './cluster.ts';

/** A webhook of this process, behind a Service of the cluster. */
export interface Webhook {
  /** For the `clientConfig` of whoever calls it. */
  readonly clientConfig: object;
  readonly close: () => void;
}

/** Serves a webhook in the namespace, with a certificate of its own. One that answers undefined leaves its caller waiting. */
export async function serveWebhook(
  cluster: Contract,
  namespace: string,
  answer: (review: unknown) => Promise<object | undefined> | object | undefined,
): Promise<Webhook> {
  const ca = await createCa(systemClock, 'webhook-ca');
  const leaf = await ca.issue({ commonName: 'hook', dnsNames: [`hook.${namespace}.svc`] });
  const server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (request, response) => {
    const respond = async (): Promise<void> => {
      const answered = await answer(await json(request));
      if (answered) response.setHeader('content-type', 'application/json').end(JSON.stringify(answered));
    };
    void respond();
  });
  server.listen(0, cluster.webhookHost);
  await once(server, 'listening');
  await cluster.serve({ namespace, name: 'hook' }, (server.address() as { port: number }).port);
  return {
    clientConfig: {
      caBundle: Buffer.from(ca.certPem).toString('base64'),
      service: { namespace, name: 'hook', path: '/hook' },
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export interface Guard {
  /** Whose pods it guards. */
  readonly namespace: string;
  readonly resource: 'pods' | 'pods/eviction';
  readonly operation: 'CREATE' | 'DELETE';
  readonly timeoutSeconds?: number;
  /** The `Status` of a refusal, undefined to allow; `never` answers nothing. */
  readonly decide: (isDryRun: boolean) => object | undefined | 'never';
}

/** A ValidatingWebhookConfiguration with its webhook, which is asked from some moment on. Returns what takes both away. */
export async function guard(
  cluster: Contract,
  { namespace, resource, operation, timeoutSeconds, decide }: Guard,
): Promise<{ webhook: Webhook; readonly remove: () => Promise<void> }> {
  const webhook = await serveWebhook(cluster, namespace, (review) =>
    reviewed(review, decide(at(review, 'request', 'dryRun') === true)),
  );
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const { metadata } = await cluster.admin.create(path, {
    metadata: { generateName: `${namespace}-` },
    webhooks: [
      {
        name: 'guard.contract.example.com',
        clientConfig: webhook.clientConfig,
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: [resource] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      },
    ],
  });
  const remove = async (): Promise<void> => {
    await cluster.admin.delete(`${path}/${metadata.name}`);
    webhook.close();
  };
  return { webhook, remove };
}

function reviewed(review: unknown, status: ReturnType<Guard['decide']>): object | undefined {
  if (status === 'never') return undefined;
  const { apiVersion, kind } = fields(review);
  const response = { uid: at(review, 'request', 'uid'), allowed: status === undefined, ...(status && { status }) };
  return { apiVersion, kind, response };
}
