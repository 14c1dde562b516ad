import {
  CHANNEL_CRD_NAME,
  CHANNEL_KIND,
  CHANNEL_PLURAL,
  CHANNEL_SHORT_NAMES,
  CHANNEL_SINGULAR,
  CHANNEL_VERSION,
  K3OS_GROUP,
} from '../runtime/api/k3os/names.ts';
import { channelCrdSchema } from '../runtime/api/k3os/schema.ts';

/** The definition of channels as clusters of tests have it. */
export function channelCrd(openAPIV3Schema: object = channelCrdSchema()): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: CHANNEL_CRD_NAME },
    spec: {
      group: K3OS_GROUP,
      scope: 'Namespaced',
      names: {
        kind: CHANNEL_KIND,
        listKind: `${CHANNEL_KIND}List`,
        plural: CHANNEL_PLURAL,
        singular: CHANNEL_SINGULAR,
        shortNames: CHANNEL_SHORT_NAMES,
      },
      versions: [{ name: CHANNEL_VERSION, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
