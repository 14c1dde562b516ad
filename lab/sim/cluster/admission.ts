import { isDeepStrictEqual } from 'node:util';
import { prune, withDefaults } from './crd/shape.ts';
import { changes } from './crd/transitions.ts';
import { validate } from './crd/validate.ts';
import type { CrdVersion } from './crd/definition.ts';
import { prepareBuiltIn } from './builtin.ts';
import type { Candidate, WriteOptions } from './candidate.ts';
import type { Core } from './core.ts';
import { reportUnknown } from './kinds/decode.ts';
import { kindFaults } from './kinds/rules.ts';
import { hasGeneration } from './metadata.ts';
import { metadataFaults } from './metadata-faults.ts';
import { type KubeJson, without, withMeta } from './object.ts';
import { invalid } from './status.ts';

/** Defaults, prunes and checks what is about to be stored. @throws StatusError 400, 422 */
export function admit(core: Core, candidate: Candidate, options: WriteOptions): KubeJson {
  const custom = core.registry.version(candidate.type);
  const object = custom ? shaped(custom, candidate, options) : prepareBuiltIn(core, candidate);
  const causes = [
    ...metadataFaults(candidate.type, object.metadata),
    ...(custom ? validate(custom.schema, object) : kindFaults({ ...candidate, object })),
    ...(custom && candidate.before ? changes(custom.schema, { before: candidate.before, after: object }) : []),
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
