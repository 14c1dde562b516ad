import { GoneError, NotFoundError } from './errors.ts';
import type { KubeList, KubeObject } from './objects.ts';
import { objectPath } from './paths.ts';
import type { KubeRequest, KubeTransport } from './transport.ts';

/** A large list comes in pages of this many objects. */
export const PAGE_SIZE = 500;
/** The same where objects are large and little is kept of each: a page then is the most that has to fit into memory. */
export const SMALL_PAGE_SIZE = 50;

export interface Selectors {
  /** e.g. `brupop.bottlerocket.aws/component=agent`. */
  readonly labelSelector?: string | undefined;
  /** e.g. `spec.nodeName=n1`. */
  readonly fieldSelector?: string | undefined;
}

/** Restricts a delete or an eviction to one object: another that has taken its name stays. */
interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** A merge patch that takes effect only on the version of the object that it was decided on: a ConflictError where that has changed. */
export interface VersionedPatch {
  readonly metadata: { readonly resourceVersion: string };
}

/**
 * The verbs of one collection, live: nothing is cached. Errors as in `KubeTransport.request`.
 * @template P what a patch has to be
 */
export class Collection<T extends KubeObject, P extends object = object> {
  readonly #transport: KubeTransport;
  readonly #path: string;

  /** @param path of the collection, see `collectionPath` */
  constructor(transport: KubeTransport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** The object now, from the API server; undefined where there is none. */
  async get(name: string, signal?: AbortSignal): Promise<T | undefined> {
    try {
      return await this.#send({ method: 'GET', path: this.#of(name) }, signal);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** All objects that match at one moment, read in pages. */
  list(selectors: Selectors = {}, signal?: AbortSignal): Promise<readonly T[]> {
    const request = { path: this.#path, query: queryOf(selectors), project: (object: T) => object, signal };
    return listAll(this.#transport, request);
  }

  /** @throws ConflictError (reason AlreadyExists) */
  create(object: object, signal?: AbortSignal): Promise<T> {
    return this.#send({ method: 'POST', path: this.#path, body: object }, signal);
  }

  /** Writes the whole object; its resourceVersion, as read, makes it a compare-and-swap. @throws ConflictError, NotFoundError */
  update(object: T, signal?: AbortSignal): Promise<T> {
    return this.#send({ method: 'PUT', path: this.#of(object.metadata.name), body: object }, signal);
  }

  /**
   * JSON merge patch (RFC 7386) of everything but the status; null removes. With `metadata.resourceVersion` in it, a compare-and-swap.
   * @throws ConflictError, NotFoundError
   */
  patch(name: string, patch: P, signal?: AbortSignal): Promise<T> {
    return this.#patch(this.#of(name), patch, signal);
  }

  /** The same for the status subresource: `{metadata?, status}`. */
  patchStatus(name: string, patch: object, signal?: AbortSignal): Promise<T> {
    return this.#patch(objectPath(this.#path, name, 'status'), patch, signal);
  }

  /**
   * Strategic merge patch of the status subresource, which built-in kinds alone have: conditions are merged by type, so those of others stay.
   * @throws ConflictError, NotFoundError
   */
  mergeStatus(name: string, patch: P, signal?: AbortSignal): Promise<T> {
    const path = objectPath(this.#path, name, 'status');
    const contentType = 'application/strategic-merge-patch+json';
    return this.#send({ method: 'PATCH', path, body: patch, contentType }, signal);
  }

  /** Asks for deletion. @throws NotFoundError; ConflictError when a precondition does not hold */
  async delete(name: string, preconditions: Preconditions, signal?: AbortSignal): Promise<void> {
    await this.#send({ method: 'DELETE', path: this.#of(name), body: deleteOptions(preconditions) }, signal);
  }

  #patch(path: string, body: object, signal: AbortSignal | undefined): Promise<T> {
    return this.#send({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' }, signal);
  }

  #of(name: string): string {
    return objectPath(this.#path, name);
  }

  async #send(request: KubeRequest, signal: AbortSignal | undefined): Promise<T> {
    return (await this.#transport.request({ ...request, ...(signal && { signal }) })) as T;
  }
}

/** Body of a DELETE. */
export function deleteOptions(preconditions: Preconditions): object {
  return { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
}

export interface ListRequest<T, P> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** What is kept of an object. */
  readonly project: (object: T) => P;
  /** Most objects in a page. @default 500 */
  readonly pageSize?: number | undefined;
  /** Of an earlier page, whose list goes on. @default it begins */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The pages of a list, all of one moment. Of a page only the projections are held, also while the next one is waited for.
 * @throws GoneError when the list took so long that its moment was compacted; the caller begins again
 */
export async function* listPages<T, P>(
  transport: KubeTransport,
  request: ListRequest<T, P>,
): AsyncGenerator<KubeList<P>> {
  let next = request.from;
  do {
    const page = await readPage(transport, request, next);
    yield page;
    next = page.metadata.continue;
  } while (next);
}

async function readPage<T, P>(
  transport: KubeTransport,
  { path, query, project, pageSize = PAGE_SIZE, signal }: ListRequest<T, P>,
  next: string | undefined,
): Promise<KubeList<P>> {
  const { metadata, items } = (await transport.request({
    method: 'GET',
    path,
    query: { ...query, limit: String(pageSize), ...(next && { continue: next }) },
    ...(signal && { signal }),
  })) as KubeList<T>;
  return { metadata, items: items.map(project) };
}

/** How often a list is begun anew whose moment was compacted. */
const MAX_RESTARTS = 3;

/** What a collection was at one moment. */
export interface Listed<P> {
  readonly items: readonly P[];
  /** resourceVersion of that moment, at which a watch can begin. */
  readonly version: string;
}

/** The projections of all objects that match at one moment, read in pages. */
export async function listAll<T, P>(transport: KubeTransport, request: ListRequest<T, P>): Promise<readonly P[]> {
  return (await listWhole(transport, request)).items;
}

/** The same with that moment. */
export async function listWhole<T, P>(transport: KubeTransport, request: ListRequest<T, P>): Promise<Listed<P>> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await pagesOf(transport, request);
    } catch (error) {
      if (!(error instanceof GoneError) || restarts >= MAX_RESTARTS) throw error;
    }
  }
}

async function pagesOf<T, P>(transport: KubeTransport, request: ListRequest<T, P>): Promise<Listed<P>> {
  const pages: KubeList<P>[] = [];
  for await (const page of listPages(transport, request)) pages.push(page);
  return { items: pages.flatMap(({ items }) => items), version: pages.at(-1)?.metadata.resourceVersion ?? '' };
}

/** Query parameters of selectors. */
export function queryOf({ labelSelector, fieldSelector }: Selectors): Record<string, string> {
  return { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) };
}
