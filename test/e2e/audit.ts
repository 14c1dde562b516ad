import { readFile } from 'node:fs/promises';
import type { Node } from '../../runtime/kube/objects.ts';
import { readMarks } from '../../runtime/marks/marks.ts';

/** A request as the API server's own audit log has it (audit.k8s.io/v1); the fields that are read here. */
export interface AuditEvent {
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly name?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly responseObject?: unknown;
}

/** Every line, in the order in which requests were answered. */
export async function readAudit(file: string): Promise<readonly AuditEvent[]> {
  const text = await readFile(file, 'utf8');
  // The last line may still be under way.
  const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
  return lines.map((line) => JSON.parse(line) as AuditEvent);
}

const WRITES = new Set(['create', 'patch', 'update']);

/** The states that Nodes were written into (writes of their status apart), in the order of their resourceVersions. */
export function nodeWrites(events: readonly AuditEvent[]): readonly Node[] {
  const written = events
    .filter(({ objectRef, verb }) => objectRef?.resource === 'nodes' && !objectRef.subresource && WRITES.has(verb))
    .filter(({ responseStatus }) => (responseStatus?.code ?? 500) < 300)
    .map(({ responseObject }) => responseObject as Node);
  return written.toSorted((a, b) => version(a) - version(b));
}

/** Names of the nodes that are cordoned after the last of these writes. */
export function stillCordoned(writes: readonly Node[]): readonly string[] {
  const last = new Map(writes.map((node) => [node.metadata.name, node]));
  return [...last.values()].filter(({ spec }) => spec?.unschedulable).map(({ metadata }) => metadata.name);
}

function version({ metadata }: Node): number {
  return Number(metadata.resourceVersion);
}

/** Most nodes that bore the operator's marks at one moment. */
export function mostMarked(writes: readonly Node[]): number {
  const marked = new Set<string>();
  let most = 0;
  for (const node of writes) {
    if (readMarks(node) === undefined) marked.delete(node.metadata.name);
    else marked.add(node.metadata.name);
    most = Math.max(most, marked.size);
  }
  return most;
}
