import type { Node, ObjectMeta } from '../kube/objects.ts';

/**
 * A Node without what is not read, above all its images and others' `managedFields`: tens of KB that would be held for as long as something
 * happens to it.
 */
export function nodeFields({ metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, creationTimestamp, labels, annotations } = metadata;
  const { conditions, nodeInfo, volumesInUse } = status ?? {};
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(creationTimestamp && { creationTimestamp }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...ownFields(metadata),
    },
    ...(spec && { spec: { ...(spec.unschedulable !== undefined && { unschedulable: spec.unschedulable }) } }),
    status: { ...(conditions && { conditions }), ...(nodeInfo && { nodeInfo }), ...(volumesInUse && { volumesInUse }) },
  };
}

function ownFields({ managedFields }: ObjectMeta): Pick<ObjectMeta, 'managedFields'> {
  return managedFields ? { managedFields: managedFields.filter(({ manager }) => manager?.startsWith('brupop-')) } : {};
}
