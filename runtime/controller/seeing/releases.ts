import { type ReleaseResource, RELEASES_PATH } from '../../api/resources.ts';
import type { Informer } from '../../kube/informer.ts';
import { decidedOn } from '../../api/release/decided.ts';
import { ledgerOf } from '../../api/release/ledger.ts';
import { RELEASE_CRD_NAME } from '../../api/release/names.ts';
import type { CacheOptions } from './freshness.ts';
import type { ReleaseView } from '../plan/facts/snapshot.ts';

/** The releases that the cluster knows. Where the kind is not served, they are not current, and nothing starts. */
export type ReleaseCache = Informer<ReleaseResource, ReleaseView>;

export const releaseCache = ({ freshness, ...access }: CacheOptions): ReleaseCache =>
  freshness.informer('releases', { ...access, path: RELEASES_PATH, project: viewOfRelease, remedy: DEFINE });

/** An upgrade applies the definition and the role first. */
const DEFINE = `kubectl apply the CustomResourceDefinition ${RELEASE_CRD_NAME} and the roles of this version`;

export function viewOfRelease({ metadata, spec, status }: ReleaseResource): ReleaseView {
  const { name, uid, resourceVersion } = metadata;
  const { family, version, decision = 'Automatic', approvedFor, provenIn, rollbackFor, expediteFor } = spec;
  const decided = decidedOn({ metadata, spec });
  return {
    name,
    uid,
    resourceVersion,
    family,
    version,
    decision,
    decided,
    ...(approvedFor && { approvedFor }),
    ...(provenIn && { provenIn }),
    ...(rollbackFor && { rollbackFor }),
    ...(expediteFor && { expediteFor }),
    ledger: ledgerOf(status),
  };
}
