import { isDeepStrictEqual } from 'node:util';
import { prune, withDefaults } from './crd/shape.ts';
import { validate } from './crd/validate.ts';
import type { CrdVersion } from './crd/definition.ts';
import { prepareBuiltIn } from './builtin.ts';
import { crdFaults } from './crd/check.ts';
import type { Core } from './core.ts';
import { hasGeneration, metadataFaults } from './metadata.ts';
import { type KubeJson, without, withMeta } from './object.ts';
import type { ResourceType } from './resources.ts';
import { badRequest, invalid } from './status.ts';

/** How a write is to be made; from the query. */
export interface WriteOptions {
  /** Everything is checked and answered, nothing is stored. */
  readonly dryRun: boolean;
  /** What happens with fields that a custom resource's schema does not know. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Sentences for the client are added here. */
  readonly warnings: string[];
  readonly patch: boolean;
}

export interface Candidate {
  readonly type: ResourceType;
  readonly object: KubeJson;
  /** Absent for a creation. */
  readonly before?: KubeJson;
}

/** Defaults, prunes and checks what is about to be stored. @throws StatusError 400, 422 */
export function admit(core: Core, candidate: Candidate, options: WriteOptions): KubeJson {
  const custom = core.registry.version(candidate.type);
  const object = custom ? shaped(custom, candidate, options) : prepareBuiltIn(core, candidate);
  const causes = [
    ...metadataFaults(candidate.type, object.metadata),
    ...(custom ? validate(custom.schema, object) : crdFaults(candidate.type, object)),
  ];
  if (causes.length > 0) throw invalid({ type: candidate.type, name: object.metadata.name }, causes);
  return hasGeneration(core, candidate.type) ? counted(object, candidate.before) : object;
}

function shaped(custom: CrdVersion, { type, object }: Candidate, options: WriteOptions): KubeJson {
  const unknown: string[] = [];
  const pruned = prune(custom.schema, object, unknown);
  const problems = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (options.fieldValidation === 'Warn') options.warnings.push(...problems);
  if (options.fieldValidation === 'Strict' && problems.length > 0) throw strict(type, problems, options);
  return withDefaults(custom.schema, pruned) as KubeJson;
}

function strict({ kind, group, version }: ResourceType, problems: readonly string[], { patch }: WriteOptions): Error {
  const why = `strict decoding error: ${problems.join(', ')}`;
  if (!patch) return badRequest(`${kind} in version "${group}/${version}" cannot be handled as a ${kind}: ${why}`);
  const cause = { reason: 'FieldValueInvalid', field: 'patch', message: `Invalid value: ${why}` };
  return invalid({ type: { kind, group, version, plural: '', singular: '', namespaced: true }, name: '' }, [cause]);
}

/** A change of anything but metadata and status is a new generation. */
function counted(object: KubeJson, before: KubeJson | undefined): KubeJson {
  if (!before) return object;
  if (isDeepStrictEqual(wanted(object), wanted(before))) return object;
  return withMeta(object, { generation: (before.metadata.generation ?? 1) + 1 });
}

function wanted(object: KubeJson): object {
  return without(object, 'metadata', 'status', 'apiVersion');
}
