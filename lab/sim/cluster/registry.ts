import type { Crd, CrdVersion } from './crd/definition.ts';
import type { CrdView } from './kubectl/openapi.ts';
import { BUILT_IN_RESOURCES, type ResourceType } from './resources.ts';

type GroupVersionResource = Pick<ResourceType, 'group' | 'version' | 'plural'>;

const BUILT_IN = new Map(BUILT_IN_RESOURCES.map((type) => [key(type), type]));

function key({ group, version, plural }: GroupVersionResource): string {
  return `${group}/${version}/${plural}`;
}

/** The resources that are served at present: the built-in ones and those of the applied CRDs. */
export class Registry {
  readonly #crds = new Map<string, Crd>();
  /** Most requests are about none of these. */
  readonly #groups = new Set<string>();

  find(resource: GroupVersionResource): ResourceType | undefined {
    const version = this.version(resource);
    return BUILT_IN.get(key(resource)) ?? (version?.served === true ? version.type : undefined);
  }

  crd({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): Crd | undefined {
    return this.#groups.has(group) ? this.#crds.get(`${plural}.${group}`) : undefined;
  }

  /** The CRD's view of a custom resource's version, served or not; undefined for built-in resources. */
  version(resource: GroupVersionResource): CrdVersion | undefined {
    return this.crd(resource)?.versions.get(resource.version);
  }

  set(crd: Crd): void {
    this.#crds.set(`${crd.plural}.${crd.group}`, crd);
    this.#groups.add(crd.group);
  }

  delete(crd: Crd): void {
    this.#crds.delete(`${crd.plural}.${crd.group}`);
  }

  types(): readonly ResourceType[] {
    const custom = [...this.#crds.values()].flatMap((crd) => served(crd).map(({ type }) => type));
    return [...BUILT_IN_RESOURCES, ...custom];
  }

  /** The CRDs as OpenAPI documents need them. */
  views(): readonly CrdView[] {
    return [...this.#crds.values()].map((crd) => ({
      group: crd.group,
      kind: crd.kind,
      plural: crd.plural,
      versions: served(crd).map(({ type, schema }) => ({ name: type.version, schema })),
    }));
  }
}

function served(crd: Crd): readonly CrdVersion[] {
  return [...crd.versions.values()].filter((version) => version.served);
}
