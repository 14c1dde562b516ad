import { type ApiObject, JsonPatch } from 'cdk8s';
import type { Construct } from 'constructs';
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
import { manifest } from './manifest.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/** The CustomResourceDefinition of k3OS' UpdateChannel, as its users know it: without a subresource for the status. */
export function addChannelCrd(scope: Construct, id: string, settings: Settings): ApiObject {
  const definition = addObject(
    scope,
    id,
    manifest('CustomResourceDefinition', {
      metadata: globalMeta(settings, { name: CHANNEL_CRD_NAME, annotations: settings.crdAnnotations }),
      spec: {
        group: K3OS_GROUP,
        names: {
          kind: CHANNEL_KIND,
          listKind: `${CHANNEL_KIND}List`,
          plural: CHANNEL_PLURAL,
          singular: CHANNEL_SINGULAR,
          shortNames: [...CHANNEL_SHORT_NAMES],
          categories: ['all'],
        },
        scope: 'Namespaced',
        versions: [{ name: CHANNEL_VERSION, served: true, storage: true }],
      },
    }),
  );
  // A typed manifest drops fields that it does not know.
  definition.addJsonPatch(JsonPatch.add('/spec/versions/0/schema', { openAPIV3Schema: channelCrdSchema() }));
  return definition;
}
