import { at, fields, type Fields, type KubeJson, list, text } from '../object.ts';
import type { ResourceType } from '../resources.ts';
import type { PrinterColumn } from '../kubectl/table.ts';
import type { Schema } from './schema.ts';

/** A CustomResourceDefinition, read once when it is applied. */
export interface Crd {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  /** The version that objects are stored at. */
  readonly storage: string;
  readonly versions: ReadonlyMap<string, CrdVersion>;
  readonly conversion: Conversion;
}

export interface CrdVersion {
  readonly type: ResourceType;
  readonly served: boolean;
  readonly schema: Schema;
  /** Has the status subresource. */
  readonly status: boolean;
  readonly columns: readonly PrinterColumn[] | undefined;
}

export type Conversion = { readonly strategy: 'None' } | WebhookConversion;

export interface WebhookConversion {
  readonly strategy: 'Webhook';
  readonly reviewVersions: readonly unknown[];
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number; readonly path: string };
  readonly caBundle?: string;
}

export function parseCrd(object: KubeJson): Crd {
  const spec = fields(object['spec']);
  const versions = list(spec['versions']).map(fields);
  return {
    group: text(spec['group']),
    plural: text(at(spec, 'names', 'plural')),
    kind: text(at(spec, 'names', 'kind')),
    storage: text(versions.find((version) => version['storage'] === true)?.['name']),
    versions: new Map(versions.map((version) => [text(version['name']), parseVersion(spec, version)])),
    conversion: parseConversion(fields(spec['conversion'])),
  };
}

function parseVersion(spec: Fields, version: Fields): CrdVersion {
  const names = fields(spec['names']);
  const status = at(version, 'subresources', 'status') !== undefined;
  const kind = text(names['kind']);
  return {
    type: {
      group: text(spec['group']),
      version: text(version['name']),
      plural: text(names['plural']),
      singular: text(names['singular']) || kind.toLowerCase(),
      kind,
      shortNames: list(names['shortNames']).map(text),
      namespaced: spec['scope'] === 'Namespaced',
      subresources: status ? ['status'] : [],
    },
    served: version['served'] === true,
    schema: fields(at(version, 'schema', 'openAPIV3Schema')),
    status,
    columns: version['additionalPrinterColumns'] as readonly PrinterColumn[] | undefined,
  };
}

function parseConversion(conversion: Fields): Conversion {
  if (conversion['strategy'] !== 'Webhook') return { strategy: 'None' };
  const client = fields(at(conversion, 'webhook', 'clientConfig'));
  const service = fields(client['service']);
  return {
    strategy: 'Webhook',
    reviewVersions: list(at(conversion, 'webhook', 'conversionReviewVersions')),
    service: {
      namespace: text(service['namespace']),
      name: text(service['name']),
      port: typeof service['port'] === 'number' ? service['port'] : 443,
      path: text(service['path']) || '/',
    },
    ...(typeof client['caBundle'] === 'string' && { caBundle: client['caBundle'] }),
  };
}
