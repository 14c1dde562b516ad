import type { ResourceType } from '../resources.ts';
import { ageColumn, type Column, nameColumn, text, value, wide } from './column.ts';
import { nodeRoles, nodeStatus } from './node.ts';
import { podReady, podRestarts, podStatus } from './pod.ts';

/** The columns in which kubectl shows what one looks at in a rollout; of any other built-in resource its name and age. */
export function builtInColumns({ plural, group }: ResourceType): readonly Column[] {
  return (group === '' && COLUMNS[plural]) || [nameColumn, ageColumn];
}

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    nameColumn,
    text('Status', nodeStatus),
    text('Roles', nodeRoles),
    ageColumn,
    text('Version', value('.status.nodeInfo.kubeletVersion', '')),
    wide('OS-Image', value('.status.nodeInfo.osImage', '<unknown>')),
  ],
  pods: [
    nameColumn,
    text('Ready', podReady),
    text('Status', podStatus),
    text('Restarts', podRestarts),
    ageColumn,
    wide('Node', value('.spec.nodeName')),
  ],
};
