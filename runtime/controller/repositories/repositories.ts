import { configMapsOf } from '../../kube/resources.ts';
import type { ClusterConnection } from '../../kube/in-cluster.ts';
import type { Basics } from '../../lib/basics.ts';
import type { Wakeup } from '../../lib/wakeup.ts';
import { MANAGED_LABEL } from '../../api/shadow/names.ts';
import type { ControllerConfig } from '../config.ts';
import type { NodeView } from '../plan/facts/snapshot.ts';
import type { ReadRepository } from './child.ts';
import { TrustMemory } from './memory.ts';
import { RepositoryReader } from './reader.ts';

interface Parts extends Basics, ClusterConnection {
  /** @default nobody reads */
  readonly readRepository?: ReadRepository | undefined;
  readonly config: Pick<ControllerConfig, 'UPDATE_REPOSITORIES' | 'REPOSITORIES_DIR'>;
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/** The reader of the repositories that are configured; undefined where none are, or it has no folder. */
export function repositoriesBy(
  { readRepository: read, config, transport, namespace, ...parts }: Parts,
  families: () => readonly string[],
): RepositoryReader | undefined {
  const { UPDATE_REPOSITORIES: repositories, REPOSITORIES_DIR: folder } = config;
  if (!read || repositories.length === 0 || folder === '') return undefined;
  const memory = new TrustMemory(configMapsOf(transport, namespace));
  return new RepositoryReader({ ...parts, repositories, read, memory, families, folder });
}

/** Of the managed hosts that have repositories. */
export function familiesOf({ nodes }: { readonly nodes: readonly NodeView[] }): readonly string[] {
  const own = nodes.filter(({ managed, labels }) => managed && labels[MANAGED_LABEL] !== undefined);
  return [...new Set(own.map(({ family }) => family))].toSorted();
}
