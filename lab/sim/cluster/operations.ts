import type { ApiResponse, PlainResponse, UserInfo } from './api.ts';
import type { WriteOptions } from './candidate.ts';
import { bind } from './binding.ts';
import { type Core, inVersion, mustGet, oneInVersion } from './core.ts';
import { evict } from './eviction.ts';
import { decode } from './kinds/decode.ts';
import type { Lists } from './list.ts';
import { checkListOptions, requireReached } from './list-options.ts';
import { fields, type KubeJson } from './object.ts';
import { deleteOptions, writeOptions } from './options.ts';
import { patcher } from './patch/patch.ts';
import { remove } from './remove.ts';
import type { Call } from './request.ts';
import type { ResourceType } from './resources.ts';
import { review } from './reviews.ts';
import { methodNotAllowed, notImplemented, noSuchPath, success } from './status.ts';
import { type Form, formOf } from './shown.ts';
import type { Tokens } from './tokens.ts';
import { Watch } from './watch.ts';
import { create, replace, requireNamespace, type Target, update } from './write.ts';

/** A call about a resource that is served, by somebody who may make it. */
export interface Operation extends Call {
  readonly type: ResourceType;
  readonly user: UserInfo;
  readonly target: Target;
}

/** An operation, and the form in which its answer is wanted. */
interface Task extends Operation {
  readonly form: Form;
}

type Verb = (task: Task) => Promise<ApiResponse>;

/** What can be done with a resource, by verb. */
export class Operations {
  readonly #core: Core;
  readonly #tokens: Tokens;
  readonly #lists: Lists;
  readonly #verbs: Readonly<Record<string, Verb>> = {
    get: (operation) => this.#get(operation),
    list: (operation) => this.#list(operation),
    watch: (operation) => Promise.resolve(this.#watch(operation)),
    create: (operation) => this.#create(operation),
    update: (operation) => this.#update(operation),
    patch: (operation) => this.#patch(operation),
    delete: (operation) => this.#delete(operation),
  };

  constructor(core: Core, parts: { tokens: Tokens; lists: Lists }) {
    this.#core = core;
    this.#tokens = parts.tokens;
    this.#lists = parts.lists;
  }

  /** @throws StatusError */
  run(operation: Operation): Promise<ApiResponse> {
    const { verb, type, target } = operation;
    const { subresource } = target;
    if (subresource !== undefined && !type.subresources?.includes(subresource)) throw absent(subresource);
    if (type.virtual === true && verb !== 'create') throw methodNotAllowed();
    const run = this.#verbs[verb];
    if (!run) throw methodNotAllowed();
    return run({ ...operation, form: formOf(this.#core, type, operation) });
  }

  async #get(operation: Task): Promise<PlainResponse> {
    const { type, target } = operation;
    requirePlain(target);
    requireReached(this.#core.store, operation.query);
    const object = oneInVersion(this.#core, type, mustGet(this.#core, target));
    return this.#answer(operation, object instanceof Promise ? await object : object, { status: 200 });
  }

  async #list(operation: Task): Promise<PlainResponse> {
    const { type, target, query } = operation;
    checkListOptions(query, false);
    const { items, metadata } = this.#lists.page({ type, namespace: target.namespace, query });
    const converted = inVersion(this.#core, type, items);
    const objects = converted instanceof Promise ? await converted : converted;
    return { status: 200, body: operation.form.list({ objects, metadata }) };
  }

  #watch(operation: Task): ApiResponse {
    const { type, target, query } = operation;
    checkListOptions(query, true);
    const watch = new Watch(this.#core, { type, namespace: target.namespace, query }).start();
    return { status: 200, stream: operation.form.watch(watch) };
  }

  async #create(operation: Task): Promise<PlainResponse> {
    const { type, target, user, request } = operation;
    const { body } = request;
    if (type.virtual === true) {
      return { status: 201, body: review(type, body, { core: this.#core, tokens: this.#tokens, user }) };
    }
    if (target.subresource !== undefined) return { status: 201, body: await this.#subresource(operation) };
    if (target.name !== '') throw methodNotAllowed();
    const options = writeOptions(operation);
    const object = await create(this.#causedBy(operation), target, {
      body: this.#decoded(operation, body, options),
      options,
    });
    return this.#answer(operation, object, { status: 201, options });
  }

  #subresource(operation: Task): object | Promise<object> {
    const { target, request, query } = operation;
    const { body } = request;
    requireNamespace(this.#core, target);
    switch (target.subresource ?? '') {
      case 'eviction':
        return evict(this.#causedBy(operation), target, {
          body,
          options: deleteOptions(fields(body)['deleteOptions'], query),
        });
      case 'token':
        return this.#tokens.issue(target, body);
      case 'binding':
        return bind(this.#causedBy(operation), target, { body, options: writeOptions(operation) });
      default:
        throw methodNotAllowed();
    }
  }

  async #update(operation: Task): Promise<PlainResponse> {
    const { target, request } = operation;
    requirePlain(target);
    const options = writeOptions(operation);
    const body = this.#decoded(operation, request.body, options);
    const { object, created } = await replace(this.#causedBy(operation), target, { body, options });
    return this.#answer(operation, object, { status: created ? 201 : 200, options });
  }

  async #patch(operation: Task): Promise<PlainResponse> {
    const { type, target, request } = operation;
    requirePlain(target);
    const apply = patcher(request.headers?.['content-type'] ?? '', this.#core.registry.crd(type) !== undefined);
    const options = writeOptions(operation);
    const change = (current: KubeJson): unknown => this.#decoded(operation, apply(current, request.body), options);
    return this.#answer(operation, await update(this.#causedBy(operation), target, { change, options }), {
      status: 200,
      options,
    });
  }

  async #delete(operation: Task): Promise<PlainResponse> {
    const { type, target, request, query } = operation;
    requirePlain(target);
    const object = mustGet(this.#core, target);
    const last = remove(this.#causedBy(operation), { type, object }, deleteOptions(request.body, query));
    const pending = this.#core.store.get(target)?.metadata.uid === object.metadata.uid;
    if (pending || ANSWER_WITH_OBJECT.has(type.kind)) {
      const shown = oneInVersion(this.#core, type, last);
      return { status: 200, body: shown instanceof Promise ? await shown : shown };
    }
    const { name, uid } = object.metadata;
    const group = type.group === '' ? {} : { group: type.group };
    return { status: 200, body: success({ name, ...group, kind: type.plural, uid }) };
  }

  #causedBy({ user, request, target: { subresource } }: Task): Core {
    return { ...this.#core, cause: { user, request, subresource } };
  }

  #decoded({ type }: Operation, body: unknown, options: WriteOptions): unknown {
    return decode(body, { type, custom: this.#core.registry.crd(type) !== undefined, options });
  }

  #answer(operation: Task, object: KubeJson, { status, options }: Answer): PlainResponse {
    const warning = options?.warnings.map((words) => `299 - ${JSON.stringify(words)}`).join(', ');
    return { status, body: operation.form.one(object), ...(warning && { headers: { warning } }) };
  }
}

interface Answer {
  readonly status: number;
  readonly options?: WriteOptions;
}

/** Types whose deletion answers with the object, and not with a Status, when it is gone at once. */
const ANSWER_WITH_OBJECT = new Set(['Pod', 'ServiceAccount']);

/** What a real cluster has and this one does not is said in words. */
const LACKING = new Set(['attach', 'ephemeralcontainers', 'exec', 'log', 'portforward', 'proxy', 'resize']);

function absent(subresource: string): Error {
  return LACKING.has(subresource) ? notImplemented(`the subresource ${subresource}`) : noSuchPath();
}

function requirePlain({ subresource }: Target): void {
  if (subresource === undefined || subresource === 'status') return;
  if (['scale', 'finalize'].includes(subresource)) throw notImplemented(`the subresource ${subresource}`);
  throw methodNotAllowed();
}
