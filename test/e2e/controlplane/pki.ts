import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { authority, type CertificateAuthority, createCa, type Subject } from '../../../lab/sim/cluster/pki.ts';

/** A certificate and its key as files. */
export interface KeyFiles {
  readonly cert: string;
  readonly key: string;
}

/** The control plane's certificates on disk. One authority signs them all. */
export interface Pki {
  readonly ca: CertificateAuthority;
  /** File of the authority's certificate. */
  readonly caFile: string;
  readonly apiserver: KeyFiles;
  /** Signs service account tokens; the certificate stands for the public key. */
  readonly serviceAccounts: KeyFiles;
  /** What the API server shows to aggregated APIs. */
  readonly frontProxy: KeyFiles;
  /** What the API server shows to kubelets, for logs and the like. */
  readonly kubeletClient: KeyFiles;
}

const SERVER_NAMES = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
/** Addresses of Services; the first is the API's own. */
export const SERVICES = '10.96.0.0/24';
const API_SERVICE = '10.96.0.1';
/** The address that the script `isolated` adds: everybody's way to this namespace who may not come by loopback. */
export const OWN_ADDRESS = '10.255.255.1';
export const FRONT_PROXY = 'front-proxy-client';

const CA: KeyFiles = { cert: 'ca.crt', key: 'ca.key' };

/** The authority of a control plane, for who needs one more user of it. @param dir the control plane's folder */
export async function controlPlaneCa(clock: Clock, dir: string): Promise<CertificateAuthority> {
  const read = (name: string): Promise<string> => readFile(join(dir, 'pki', name), 'utf8');
  return authority(clock, { certPem: await read(CA.cert), keyPem: await read(CA.key) });
}

/** @param dir folder to make for the files */
export async function createPki(clock: Clock, dir: string): Promise<Pki> {
  await mkdir(dir, { recursive: true });
  const ca = await createCa(clock, 'controlplane-ca');
  const caFile = join(dir, CA.cert);
  await writeFile(caFile, ca.certPem);
  await writeFile(join(dir, CA.key), ca.keyPem, { mode: 0o600 });
  const issue = async (name: string, subject: Subject): Promise<KeyFiles> => {
    const files = { cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) };
    const { certPem, keyPem } = await ca.issue(subject);
    await writeFile(files.cert, certPem);
    await writeFile(files.key, keyPem, { mode: 0o600 });
    return files;
  };
  return {
    ca,
    caFile,
    apiserver: await issue('apiserver', {
      commonName: 'kube-apiserver',
      dnsNames: SERVER_NAMES,
      ips: ['127.0.0.1', API_SERVICE, OWN_ADDRESS],
    }),
    serviceAccounts: await issue('service-accounts', { commonName: 'service-accounts' }),
    frontProxy: await issue('front-proxy', { commonName: FRONT_PROXY }),
    kubeletClient: await issue('kubelet-client', { commonName: 'kube-apiserver', organization: 'system:masters' }),
  };
}

/** A kubeconfig (JSON, which is YAML) for a user with a client certificate. */
export async function kubeconfig(ca: CertificateAuthority, url: string, user: Subject): Promise<string> {
  const { certPem, keyPem } = await ca.issue(user);
  const name = 'controlplane';
  const cluster = { server: url, 'certificate-authority-data': base64(ca.certPem) };
  const identity = { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name, user: identity }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
