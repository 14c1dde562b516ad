import type { ResourceType } from '../resources.ts';

/** What an OpenAPI document needs to know of a CustomResourceDefinition. */
export interface CrdView {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** Served versions; `schema` is the version's `openAPIV3Schema`. */
  readonly versions: readonly { readonly name: string; readonly schema: unknown }[];
}

const INDEX = '/openapi/v3';

/**
 * The older document, in protobuf, saying only that it is one (field 1: "2.0"). kubectl turns to it for kinds that it does not find in
 * version 3; unless it gets one it stops there, and never says that the kind is unknown.
 */
export const OPENAPI_V2 = '\n\u00032.0';

/**
 * kubectl refuses to apply unless a resource's patch operation is seen to take `fieldValidation`. No content type is listed for the
 * patch on purpose: without one kubectl merges built-in kinds by the merge keys that it has compiled in, which documents with open
 * schemas could not give it.
 */
const PATCH_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
  name,
  in: 'query',
  schema: { type: name === 'force' ? 'boolean' : 'string', uniqueItems: true },
}));

/**
 * Answers `/openapi/v3` (the index) and `/openapi/v3/<group version path>`: enough for kubectl to validate and apply. Schemas of
 * built-in kinds are open objects, those of custom resources are the CRD's own.
 * @returns undefined for a path that is none of these
 */
export function openapiV3(path: string, resources: readonly ResourceType[], crds: readonly CrdView[]): unknown {
  const stored = resources.filter(({ virtual }) => !virtual);
  if (path === INDEX) {
    const paths = [...new Set(stored.map(groupVersionPath))];
    return { paths: Object.fromEntries(paths.map((each) => [each, { serverRelativeURL: `${INDEX}/${each}` }])) };
  }
  const served = stored.filter((resource) => `${INDEX}/${groupVersionPath(resource)}` === path);
  return served.length === 0 ? undefined : document(served, crds);
}

function document(served: readonly ResourceType[], crds: readonly CrdView[]): object {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'embedded' },
    paths: Object.fromEntries(served.map((resource) => [objectPath(resource), pathItem(resource)])),
    components: {
      schemas: Object.fromEntries(served.map((resource) => [schemaName(resource), schema(resource, crds)])),
    },
  };
}

function pathItem(resource: ResourceType): object {
  const response = { description: 'OK', content: { 'application/json': { schema: reference(resource) } } };
  return {
    patch: {
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': groupVersionKind(resource),
      parameters: PATCH_PARAMETERS,
      responses: { 200: response },
    },
    parameters: ['name', ...(resource.namespaced ? ['namespace'] : [])].map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', uniqueItems: true },
    })),
  };
}

function schema(resource: ResourceType, crds: readonly CrdView[]): object {
  const crd = crds.find(({ group, plural }) => group === resource.group && plural === resource.plural);
  const own = crd?.versions.find(({ name }) => name === resource.version)?.schema as object | undefined;
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return { ...(own ?? open), 'x-kubernetes-group-version-kind': [groupVersionKind(resource)] };
}

function groupVersionPath({ group, version }: ResourceType): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function objectPath(resource: ResourceType): string {
  const scope = resource.namespaced ? 'namespaces/{namespace}/' : '';
  return `/${groupVersionPath(resource)}/${scope}${resource.plural}/{name}`;
}

function groupVersionKind({ group, version, kind }: ResourceType): object {
  return { group, version, kind };
}

function schemaName({ group, version, kind }: ResourceType): string {
  const reversed = group === '' ? 'io.k8s.api.core' : group.split('.').toReversed().join('.');
  return `${reversed}.${version}.${kind}`;
}

function reference(resource: ResourceType): object {
  return { $ref: `#/components/schemas/${schemaName(resource)}` };
}
