import type { Preflight } from '../drain/drain.ts';
import { bool, type EnvValues, oneOf, port, positiveInteger, processEnv, readEnv, seconds, text } from '../lib/env.ts';
import { logEnv } from '../lib/log.ts';

/** Paths that need no token: conversion for the API server, liveness, metrics. */
export const PUBLIC_PATHS = { crdConvert: '/crdconvert', ping: '/ping', metrics: '/metrics' } as const;

const PREFLIGHTS: readonly Preflight[] = ['warn', 'refuse'];

/** Every environment variable of the apiserver. */
export const apiserverEnv = {
  ...processEnv,
  ...logEnv,
  APISERVER_INTERNAL_PORT: port({ help: 'TLS port of the API', default: '8443' }),
  HTTP_PORT: port({ help: 'plain HTTP port of /metrics, /healthz and /readyz', default: '8080' }),
  TLS_DIR: text({ help: 'folder with tls.crt, tls.key and ca.crt', default: '/etc/brupop-tls-keys' }),
  REQUIRE_CLIENT_CERTIFICATE: bool({
    help: 'whether agents must show a certificate that ca.crt has signed, besides their token',
    default: 'false',
  }),
  DRAIN_TIMEOUT_IN_SEC: seconds({ help: 'how long a drain may take; 0 = no limit', default: '1800' }),
  DRAIN_PREFLIGHT: oneOf(PREFLIGHTS, {
    help: 'what to do about pods that no eviction can move as things are: drain and warn, or refuse to begin',
    default: 'warn',
  }),
  DRAIN_REFUSAL_TIMEOUT_IN_SEC: seconds({
    help: 'how long drains for a version are refused before one is tried all the same; 0 = for as long as it lasts',
    default: '1800',
  }),
  VOLUME_DETACH_TIMEOUT_IN_SEC: seconds({
    help: 'how long a drain waits, once its pods are gone, for their volumes to be unmounted; 0 = not at all',
    default: '120',
  }),
  SKIP_WAIT_FOR_DELETE_TIMEOUT_IN_SEC: seconds({
    help: 'how long a drain waits for a pod that is ending after that was due, on a node that is Ready; 0 = no limit',
    default: '300',
  }),
  MAX_CONCURRENT_EVICTIONS: positiveInteger({ help: 'eviction requests in flight for one drain', default: '5' }),
} as const;

/**
 * Arguments of Node itself. The young generation is small, because what a request leaves is garbage at once: with the default size, the
 * garbage of a busy hour stays in memory for long. The old generation gets this share of the container's limit, or it would grow beyond the
 * limit before it is collected. The rest is for Node's own program and for the buffers of the most connections that there may be.
 */
export const APISERVER_NODE_FLAGS = ['--max-semi-space-size=4', '--max-old-space-size-percentage=40'] as const;

/**
 * Variables that glibc reads, not this process (bytes; mallopt(3)). For each connection Node sets 64 KiB aside for what comes in. Above the
 * threshold, such a buffer gets pages of its own, of which only the used ones count: a thousand agents' connections need 20 to 30 MB less.
 * The heap grows by no more than what is asked for, or the buffers would be cut from its reserve instead.
 */
export const APISERVER_ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TOP_PAD_: '0' } as const;

export type ApiserverConfig = EnvValues<typeof apiserverEnv>;

/** @throws EnvError naming every fault */
export function readApiserverConfig(source: Readonly<Record<string, string | undefined>>): ApiserverConfig {
  return readEnv(apiserverEnv, source);
}
