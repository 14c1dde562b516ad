import { notImplemented, unsupportedMediaType } from '../status.ts';
import { mergePatch } from './merge.ts';
import { strategicMergePatch } from './strategic.ts';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

/** Applies a patch of the given content type. Custom resources know no strategic merge. @throws StatusError 400, 415, 501 */
export function patcher(contentType: string, custom: boolean): (target: unknown, patch: unknown) => unknown {
  const type = contentType.split(';')[0]?.trim() ?? '';
  if (type.startsWith('application/apply-patch')) {
    throw notImplemented('server-side apply; use a merge patch, or "kubectl apply" without --server-side');
  }
  if (type === MERGE) return mergePatch;
  if (type === STRATEGIC && !custom) return strategicMergePatch;
  throw unsupportedMediaType(custom ? [MERGE] : [MERGE, STRATEGIC]);
}
