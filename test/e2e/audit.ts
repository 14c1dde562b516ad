import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { RealCluster } from './cluster.ts';
import type { Sighting } from './sighting.ts';

/** A request as the API server's own audit log has it (audit.k8s.io/v1); the fields that are read here. */
export interface AuditEvent {
  /** A watch is told of twice: when it has begun, and when it is over. */
  readonly stage?: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly user?: { readonly username?: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly impersonatedUser?: { readonly username?: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly responseObject?: unknown;
  /** When it came. */
  readonly requestReceivedTimestamp: string;
  /** When it was answered. */
  readonly stageTimestamp: string;
}

/** Everything that this control plane was asked so far, in the order of the answers. */
export function auditOf({ dir }: RealCluster): Promise<readonly AuditEvent[]> {
  return readAudit(join(dir, 'audit.log'));
}

/** Every line, in the order in which requests were answered. */
export async function readAudit(file: string): Promise<readonly AuditEvent[]> {
  const text = await readFile(file, 'utf8');
  return text.split('\n').flatMap((line) => parsed(line) ?? []);
}

/** Undefined for a line that is still being written, or that a server which was killed left half written. */
function parsed(line: string): AuditEvent | undefined {
  try {
    return JSON.parse(line) as AuditEvent;
  } catch {
    return undefined;
  }
}

const WRITES = new Set(['create', 'patch', 'update', 'delete']);

/** The states that Nodes and Pods were written into, and by whom. */
export function written(events: readonly AuditEvent[]): readonly Sighting[] {
  return events
    .filter(({ verb, responseStatus }) => WRITES.has(verb) && (responseStatus?.code ?? 500) < 300)
    .flatMap((event) => sighting(event) ?? []);
}

function sighting(event: AuditEvent): Sighting | undefined {
  const { verb, responseObject, stageTimestamp } = event;
  const object = responseObject as Node | Pod | undefined;
  if (object?.kind !== 'Node' && object?.kind !== 'Pod') return undefined;
  // With grace left a deletion has only begun.
  const gone = verb === 'delete' && object.metadata.deletionGracePeriodSeconds === 0;
  return { atMs: Date.parse(stageTimestamp), object, gone, by: authorOf(event) };
}

/** Who asked, or in whose name. */
export function authorOf({ user, impersonatedUser }: AuditEvent): string {
  return impersonatedUser?.username ?? user?.username ?? '';
}

/** True for the service accounts of the operator's own processes. */
export function isOperator(user: string): boolean {
  return user.startsWith(`system:serviceaccount:${NAMESPACE}:`);
}
