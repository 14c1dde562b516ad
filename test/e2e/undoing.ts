import {
  ANY_FAMILY,
  RELEASE_API_VERSION,
  RELEASE_KIND,
  RELEASE_SHORT_NAME,
  releaseObjectName,
} from '../../runtime/api/release/names.ts';
import { HOLD_ANNOTATION, NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { apply, kubectl } from './kubectl.ts';

/** What people say that ends an update which has disturbed nobody. */
export interface Word {
  readonly say: () => Promise<unknown>;
  readonly takeBack: () => Promise<unknown>;
}

const annotated = (object: readonly string[], key: string): Word => ({
  say: () => kubectl('annotate', ...object, `${key}=`),
  takeBack: () => kubectl('annotate', ...object, `${key}-`),
});

export const pause: Word = annotated(['namespace', NAMESPACE], PAUSED_ANNOTATION);

export const holdOf = (node: string): Word => annotated(['node', node], HOLD_ANNOTATION);

export function haltOf(version: string): Word {
  const of = { family: ANY_FAMILY, version };
  const name = releaseObjectName(of);
  const spec = { ...of, decision: 'Halt' };
  return {
    say: () => apply({ apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata: { name }, spec }),
    takeBack: () => kubectl('delete', RELEASE_SHORT_NAME, name),
  };
}
