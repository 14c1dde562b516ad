import type { Collection } from '../../kube/collection.ts';
import type { ShadowObject } from '../../api/resources.ts';
import type { CustomResourceDefinition } from '../../kube/objects.ts';
import { ApiStatusError, ConflictError, isDefinite, NotFoundError } from '../../kube/errors.ts';
import { type Clock, HOUR_MS } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { inParallel } from '../../lib/parallel.ts';
import { CRD_NAME, STORAGE_VERSION } from '../../api/shadow/names.ts';

const AT_ONCE = 2;
/** After the first failure. It doubles up to an hour: nothing waits for it but the removal of an old version. */
const RETRY_MS = 60_000;

interface StorageMigrationOptions {
  readonly crds: Pick<Collection<CustomResourceDefinition>, 'get' | 'patchStatus'>;
  /** Of all namespaces: an old version is needed for as long as any object is stored in it. */
  readonly shadows: Pick<Collection<ShadowObject>, 'list'>;
  /** The operator's own shadows, which it may write. */
  readonly own: Pick<Collection<ShadowObject>, 'patch'>;
  /** The operator's own. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Brings every stored shadow to the present version and says so in the CRD's status, so that the older one can go some day. It changes
 * nothing about the shadows: the API server stores whatever is written to it in the present version.
 */
export async function migrateStorage(options: StorageMigrationOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger } = options;
  const rewritten = new Set<string>();
  for (let failures = 0; !signal.aborted; failures++) {
    const retryMs = Math.min(RETRY_MS * 2 ** failures, HOUR_MS);
    try {
      return await migrateOnce(options, rewritten, signal);
    } catch (error) {
      if (!signal.aborted) logger.warn('stored shadows not migrated yet', { error, retryMs });
    }
    await clock.sleep(retryMs, signal).catch(() => undefined);
  }
}

/** @param rewritten UIDs of shadows that are known to be stored in the present version */
async function migrateOnce(
  options: StorageMigrationOptions,
  rewritten: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  const { crds, shadows, namespace, logger } = options;
  const crd = await crds.get(CRD_NAME, signal);
  if (!crd || !isDue(crd)) return;
  const all = await shadows.list({}, signal);
  const foreign = all.filter(({ metadata }) => metadata.namespace !== namespace);
  if (foreign.length > 0) {
    logger.warn('shadows in another namespace keep an old version stored', { shadows: foreign.length });
    return;
  }
  const left = all.filter(({ metadata }) => !rewritten.has(metadata.uid));
  const refusals: Error[] = [];
  await inParallel(left, AT_ONCE, async (shadow) => {
    const refusal = await rewrite(options, shadow, signal);
    if (refusal) refusals.push(refusal);
    else rewritten.add(shadow.metadata.uid);
  });
  if (refusals[0]) throw refusals[0];
  const { resourceVersion } = crd.metadata;
  const patch = { metadata: { resourceVersion }, status: { storedVersions: [STORAGE_VERSION] } };
  await crds.patchStatus(CRD_NAME, patch, signal);
  logger.info('stored shadows migrated', { shadows: all.length, to: STORAGE_VERSION });
}

/** Whether an older version is still listed as stored, and the API server stores new writes in the present one. */
function isDue({ spec, status }: CustomResourceDefinition): boolean {
  const present = spec?.versions?.find(({ storage }) => storage)?.name;
  return present === STORAGE_VERSION && status?.storedVersions?.some((version) => version !== STORAGE_VERSION) === true;
}

/**
 * A conflict will do: another write has stored the shadow in the present version, or it was deleted.
 * @returns the refusal of this shadow alone; the others go on
 */
async function rewrite(
  { own }: StorageMigrationOptions,
  { metadata: { name, resourceVersion } }: ShadowObject,
  signal: AbortSignal,
): Promise<ApiStatusError | undefined> {
  try {
    await own.patch(name, { metadata: { resourceVersion } }, signal);
  } catch (error) {
    if (error instanceof ConflictError || error instanceof NotFoundError) return undefined;
    if (error instanceof ApiStatusError && isDefinite(error)) return error;
    throw error;
  }
  return undefined;
}
