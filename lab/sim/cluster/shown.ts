import type { WatchEvent } from '../../../runtime/kube/transport.ts';
import type { EventStream } from './api.ts';
import type { Core } from './core.ts';
import { type PrinterColumn, renderTable } from './kubectl/table.ts';
import { type KubeJson, without } from './object.ts';
import type { Call } from './request.ts';
import type { ResourceType } from './resources.ts';

/** The form in which a client wants objects: as they are, or rows of a table with the printer's columns. */
export interface Form {
  one(object: KubeJson): object;
  list(objects: { readonly objects: readonly KubeJson[]; readonly metadata: object }): object;
  watch(stream: EventStream): EventStream;
}

/** As kubectl asks for one. What else there is in its Accept header is taken for JSON, which each client of the operator's takes. */
const TABLE = 'as=Table;v=v1;g=meta.k8s.io';

/** The form that the request's Accept header asks for. */
export function formOf(core: Core, type: ResourceType, { request, query }: Call): Form {
  if (!request.headers?.['accept']?.includes(TABLE)) return plain(core, type);
  return table({
    resource: type,
    core,
    ...(core.registry.crd(type) && { columns: core.registry.version(type)?.columns ?? [] }),
    ...(query['includeObject'] !== undefined && { includeObject: query['includeObject'] }),
  });
}

function plain(core: Core, type: ResourceType): Form {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
  // Items of a built-in list do not repeat what the list says.
  const item = core.registry.crd(type) ? (object: KubeJson): object => object : bare;
  return {
    one: (object) => object,
    list: ({ objects, metadata }) => ({ kind: `${type.kind}List`, apiVersion, metadata, items: objects.map(item) }),
    watch: (stream) => stream,
  };
}

function bare(object: KubeJson): object {
  return without(object, 'apiVersion', 'kind');
}

interface TableOptions {
  readonly resource: ResourceType;
  readonly core: Core;
  readonly columns?: readonly PrinterColumn[];
  readonly includeObject?: string;
}

function table({ core, ...options }: TableOptions): Form {
  const rows = (objects: readonly object[], metadata: object, includeHeaders = true): object =>
    renderTable({ ...options, objects, metadata, includeHeaders, nowMs: core.clock.now() });
  return {
    one: (object) => rows([object], { resourceVersion: object.metadata.resourceVersion }),
    list: ({ objects, metadata }) => rows(objects, metadata),
    watch: (stream) => {
      let first = true;
      return changed(stream, (object) => {
        const shown = rows([object], { resourceVersion: object.metadata.resourceVersion }, first);
        first = false;
        return shown;
      });
    },
  };
}

/** The stream with each object, those of bookmarks included, in another form. */
function changed(stream: EventStream, change: (object: KubeJson) => object): EventStream {
  const events = async function* (): AsyncGenerator<WatchEvent, void> {
    for await (const event of stream) {
      if (event.type === 'ERROR') yield event;
      else yield { type: event.type, object: change(event.object as KubeJson) };
    }
  };
  return { close: () => stream.close(), [Symbol.asyncIterator]: events };
}
