import {
  bool,
  type EnvValues,
  type EnvVar,
  oneOf,
  optionalText,
  port,
  positiveInteger,
  positiveSeconds,
  processEnv,
  readEnv,
  seconds,
  text,
} from '../lib/env.ts';
import { logEnv } from '../lib/log.ts';
import { APISERVER_SERVICE } from '../api/shadow/names.ts';

const { KUBECONFIG: _, ...inCluster } = processEnv;

/**
 * Arguments of Node in front of the agent's program. An agent runs on every node and does little. So it saves memory by a small young
 * generation, by interpreting its code (V8's lite mode) and by no helper threads. Interpreted code takes more of the processor: a third more in a
 * small loop over JSON, for 0.6 MB less memory while idle and 4.4 MB less at its highest. The heap ends below the container's limit.
 */
export const AGENT_NODE_FLAGS: readonly string[] = [
  '--max-semi-space-size=1',
  '--max-old-space-size-percentage=50',
  '--lite-mode',
  '--single-threaded-gc',
  '--v8-pool-size=0',
];

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Null for the empty text, undefined for a text that is no address. */
function parseAddress(value: string): Address | null | undefined {
  if (value === '') return null;
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain;
  return host === undefined || Number(digits) > 65535 ? undefined : { host, port: Number(digits) };
}

/** What drives a host, by what the host is: Bottlerocket with its API, Bottlerocket of interface 1.0.0, k3OS. */
const HOST_DRIVERS = ['bottlerocket', 'updog', 'k3os'] as const;

/** Every environment variable of the agent. */
export const agentEnv = {
  ...inCluster,
  ...logEnv,
  MY_NODE_NAME: text({ help: 'name of the node that this pod runs on' }),
  EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: seconds({
    help: 'how long to wait after a node is excluded from load balancers and before its drain; 0 = do not exclude',
    default: '0',
  }),
  UPDATE_CHECK_INTERVAL_IN_SEC: positiveSeconds({
    help: 'how long between two looks for updates, jittered',
    default: '120',
  }),
  APISERVER_SERVICE_PORT: port({ help: "port of the operator's own apiserver Service", default: '443' }),
  BRUPOP_APISERVER_SERVICE_HOST: optionalText({
    help: 'address of that Service, which Kubernetes sets; dialled where the cluster DNS does not answer',
  }),
  APISERVER_ADDRESS: {
    expected: 'host:port, with an IPv6 address in brackets',
    help: 'host:port to dial instead of the Service; the certificate must still bear its name',
    default: '',
    parse: parseAddress,
  } satisfies EnvVar<Address | null>,
  BOOT_ID_PATH: text({ help: "file with the host's boot id", default: '/proc/sys/kernel/random/boot_id' }),
  TLS_DIR: text({
    help: "folder with the ca.crt that signed the apiserver's certificate, and with a certificate of the agent's own",
    default: '/etc/brupop-tls-keys',
  }),
  PRESENT_CLIENT_CERTIFICATE: bool({
    help: 'whether to show tls.crt to the apiserver, with tls.key',
    default: 'false',
  }),
  AGENT_TOKEN_PATH: text({
    help: 'projected token with the audience brupop-apiserver',
    default: '/var/run/secrets/tokens/bottlerocket-agent-service-account-token',
  }),
  HTTP_PORT: port({ help: 'plain HTTP port of /healthz and /readyz', default: '8080' }),
  HOST_DRIVER: oneOf(HOST_DRIVERS, { help: 'what the host is driven by; its DaemonSet says', default: 'bottlerocket' }),
  BOTTLEROCKET_API_SOCKET: text({ help: "bottlerocket: unix socket of the host's API", default: '/run/api.sock' }),
  HOST_ROOT: text({ help: "updog, k3os: where the host's root is mounted", default: '/' }),
  HOST_INIT_PID: positiveInteger({
    help: "k3os: process id of the host's init, which reboots when it is told to end",
    default: '1',
  }),
} as const;

export type AgentConfig = EnvValues<typeof agentEnv>;

/** @throws EnvError naming every fault */
export function readAgentConfig(source: Readonly<Record<string, string | undefined>>): AgentConfig {
  return readEnv(agentEnv, source);
}

/**
 * Where the agent dials the operator's apiserver, and the name that the certificate must bear. The name ends in `svc`: the pod's resolver
 * adds the cluster's domain, and the certificates of every installation contain this name.
 */
export function operatorAddress(config: AgentConfig, namespace: string) {
  const servername = `${APISERVER_SERVICE}.${namespace}.svc`;
  const service = { host: servername, port: config.APISERVER_SERVICE_PORT };
  return { servername, ...(config.APISERVER_ADDRESS ?? service), fallbackHost: config.BRUPOP_APISERVER_SERVICE_HOST };
}

/** Files by which the agent verifies the apiserver, and by which it proves its own identity there. */
export function operatorFiles({ TLS_DIR, AGENT_TOKEN_PATH, PRESENT_CLIENT_CERTIFICATE }: AgentConfig) {
  const certificate = { certPath: `${TLS_DIR}/tls.crt`, keyPath: `${TLS_DIR}/tls.key` };
  return {
    caPath: `${TLS_DIR}/ca.crt`,
    tokenPath: AGENT_TOKEN_PATH,
    ...(PRESENT_CLIENT_CERTIFICATE && { certificate }),
  };
}
