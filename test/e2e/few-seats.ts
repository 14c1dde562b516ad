import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { createCa } from '../../lab/sim/cluster/pki.ts';
import { shell } from '../shell.ts';
import type { RealCluster } from './cluster.ts';
import { comesTrue } from './come-true.ts';
import { kubectl } from './kubectl.ts';

/** Of the priority level. One share of all that the API server gives to its own levels comes to this. */
const SEATS = 3;
const LEVEL = 'few-seats';
/** Who takes the seats from the operator. */
const CROWD = 'crowd';
/** For how long they are all taken, and free again, milliseconds: from, to. */
const TAKEN_MS = [100, 500] as const;
const FREE_MS = [300, 900] as const;

/** What others keep busy. */
export interface Crowd {
  stop(): Promise<void>;
}

/**
 * Gives the operator a priority level of three seats, whose other users take all of them again and again: by writes that a webhook keeps
 * waiting. What finds no seat is turned away.
 */
export async function crowd(cluster: RealCluster): Promise<Crowd> {
  const webhook = await slowWebhook();
  await apply(cluster, 'crowd', [...priority(), ...rights(), webhook.configuration]);
  const limit = `apiserver_flowcontrol_nominal_limit_seats{priority_level="${LEVEL}"} ${SEATS}`;
  await comesTrue(async () => (await metrics(cluster)).includes(limit));
  const over = new AbortController();
  const taking = take(await crowdTransport(cluster), { over: over.signal, until: webhook.until });
  return {
    stop: async () => {
      over.abort(new Error('enough'));
      await taking;
      webhook.close();
    },
  };
}

/** Those of priority and fairness: there are more than a pipe of `kubectl` takes. */
async function metrics({ kubeconfig, dir: home }: RealCluster): Promise<string> {
  const { stdout } = await shell('kubectl get --raw /metrics | grep nominal_limit_seats', { kubeconfig, home });
  return stdout;
}

/** Takes every seat until an instant, again and again. */
async function take(
  transport: KubeTransport,
  { over, until }: { readonly over: AbortSignal; readonly until: (ms: number) => void },
): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'crowd-' } };
  const path = `/api/v1/namespaces/${CROWD}/configmaps`;
  const seat = async (end: number): Promise<void> => {
    while (systemClock.now() < end) {
      // What is slow is not asked for again by the transport.
      await transport
        .request({ method: 'POST', path, body, query: { dryRun: 'All' }, slow: true })
        .catch(() => undefined);
      await systemClock.sleep(5);
    }
  };
  while (!over.aborted) {
    const end = systemClock.now() + between(TAKEN_MS);
    until(end);
    await Promise.all(Array.from({ length: SEATS }, () => seat(end)));
    await systemClock.sleep(between(FREE_MS), over).catch(() => undefined);
  }
}

const between = ([from, to]: readonly [number, number]): number => from + (to - from) * Math.random();

async function crowdTransport({ kubeconfig }: RealCluster): Promise<KubeTransport> {
  const { access } = await kubeconfigAccess(kubeconfig);
  const credentials: typeof access.credentials = async (renew) => {
    const given = await access.credentials(renew);
    return { ...given, headers: { ...given.headers, 'impersonate-user': CROWD } };
  };
  return httpsTransport({ ...access, credentials }, { userAgent: CROWD });
}

/** Answers when the seats are to be free again. */
async function slowWebhook() {
  const ca = await createCa(systemClock, CROWD);
  const leaf = await ca.issue({ commonName: CROWD, ips: ['127.0.0.1'] });
  let end = 0;
  const server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (request, response) => {
    const answer = async (): Promise<void> => {
      const {
        apiVersion,
        kind,
        request: asked,
      } = (await json(request)) as { request: { uid: string } } & Record<string, unknown>;
      await systemClock.sleep(Math.max(0, end - systemClock.now()));
      const body = { apiVersion, kind, response: { uid: asked.uid, allowed: true } };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    };
    void answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: CROWD },
    webhooks: [
      {
        name: 'slow.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca.certPem).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': CROWD } },
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  };
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { configuration, until: (ms: number) => void (end = ms), close };
}

function priority(): readonly object[] {
  const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
  const metadata = { name: LEVEL };
  const limited = {
    nominalConcurrencyShares: 1,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
  const subjects = [
    { kind: 'Group', group: { name: `system:serviceaccounts:${NAMESPACE}` } },
    { kind: 'User', user: { name: CROWD } },
  ];
  return [
    { apiVersion, kind: 'PriorityLevelConfiguration', metadata, spec: { type: 'Limited', limited } },
    {
      apiVersion,
      kind: 'FlowSchema',
      metadata,
      spec: {
        priorityLevelConfiguration: metadata,
        matchingPrecedence: 50,
        rules: [{ subjects, resourceRules: [everything] }],
      },
    },
  ];
}

function rights(): readonly object[] {
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CROWD } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: CROWD, namespace: CROWD },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: CROWD }],
    },
  ];
}

async function apply({ dir }: RealCluster, name: string, items: readonly object[]): Promise<void> {
  const file = join(dir, `${name}.json`);
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await kubectl('apply', '-f', file);
}
