import { isDeepStrictEqual } from 'node:util';
import { prune, withDefaults } from './crd/shape.ts';
import { validate } from './crd/validate.ts';
import type { CrdVersion } from './crd/definition.ts';
import { prepareBuiltIn } from './builtin.ts';
import type { Core } from './core.ts';
import { reportUnknown } from './kinds/decode.ts';
import { holderFaults } from './kinds/holders.ts';
import { kindFaults } from './kinds/rules.ts';
import { hasGeneration, metadataFaults } from './metadata.ts';
import { type KubeJson, without, withMeta } from './object.ts';
import type { ResourceType } from './resources.ts';
import { invalid } from './status.ts';

/** How a write is to be made; from the query. */
export interface WriteOptions {
  /** Everything is checked and answered, nothing is stored. */
  readonly dryRun: boolean;
  /** What happens with fields that the kind does not have. */
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
  /** Through which the write comes. */
  readonly subresource?: string | undefined;
}

/** Defaults, prunes and checks what is about to be stored. @throws StatusError 400, 422 */
export function admit(core: Core, candidate: Candidate, options: WriteOptions): KubeJson {
  const custom = core.registry.version(candidate.type);
  const object = custom ? shaped(custom, candidate, options) : prepareBuiltIn(core, candidate);
  const causes = [
    ...metadataFaults(candidate.type, object.metadata),
    ...holderFaults({ ...candidate, object, custom: custom !== undefined }),
    ...(custom ? validate(custom.schema, object) : kindFaults({ ...candidate, object })),
  ];
  if (causes.length > 0) throw invalid({ type: candidate.type, name: object.metadata.name }, causes);
  return hasGeneration(core, candidate.type) ? counted(object, candidate.before) : object;
}

function shaped(custom: CrdVersion, { type, object }: Candidate, options: WriteOptions): KubeJson {
  const unknown: string[] = [];
  const pruned = prune(custom.schema, object, unknown);
  reportUnknown(type, unknown, options);
  return withDefaults(custom.schema, pruned) as KubeJson;
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
