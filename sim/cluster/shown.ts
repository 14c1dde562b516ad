import type { WatchEvent } from '../../runtime/kube/transport.ts';
import type { EventStream } from './api.ts';
import type { Core } from './core.ts';
import { type PrinterColumn, renderTable } from './kubectl/table.ts';
import { type KubeJson, without } from './object.ts';
import type { Call } from './request.ts';
import type { ResourceType } from './resources.ts';

interface Objects {
  readonly objects: readonly KubeJson[];
  readonly metadata: object;
}

/** The form in which a client wants objects: as they are, or as rows of a table with the printer's columns. */
export interface Form {
  one(object: KubeJson): object;
  list(objects: Objects): object;
  watch(stream: EventStream): EventStream;
}

/** What the request's Accept header asks for. */
export function formOf(core: Core, type: ResourceType, { request, query }: Call): Form {
  if (!request.headers?.['accept']?.includes('as=Table')) return plain(core, type);
  const columns = core.registry.version(type)?.columns;
  const includeObject = query['includeObject'];
  return table({
    resource: type,
    core,
    ...(core.registry.crd(type) && { columns: columns ?? [] }),
    ...(includeObject !== undefined && { includeObject }),
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
    watch: (stream) => ({ close: () => stream.close(), [Symbol.asyncIterator]: () => tableEvents(stream, rows) }),
  };
}

async function* tableEvents(
  stream: EventStream,
  rows: (objects: readonly object[], metadata: object, includeHeaders: boolean) => object,
): AsyncGenerator<WatchEvent, void> {
  let first = true;
  for await (const event of stream) {
    const object = event.object as KubeJson;
    if (event.type === 'ERROR' || event.type === 'BOOKMARK') {
      yield event;
      continue;
    }
    yield { type: event.type, object: rows([object], { resourceVersion: object.metadata.resourceVersion }, first) };
    first = false;
  }
}
