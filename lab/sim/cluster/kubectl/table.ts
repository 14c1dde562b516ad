import type { ResourceType } from '../resources.ts';
import { age } from './age.ts';
import { ageColumn, builtInColumns, type Column, nameColumn } from './columns.ts';
import { asText, jsonPath } from './json-path.ts';

/** One of a CRD version's `additionalPrinterColumns`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
  readonly description?: string;
  readonly format?: string;
}

export interface TableRequest {
  readonly resource: ResourceType;
  readonly objects: readonly object[];
  /** Metadata of the list, or an empty object for a single one. */
  readonly metadata: object;
  /** A custom resource's printer columns; without them its name and age are shown. */
  readonly columns?: readonly PrinterColumn[];
  readonly nowMs: number;
  /** Whether the column definitions are sent; in a watch only the first event has them. @default true */
  readonly includeHeaders?: boolean;
  /** How much of each object goes with its row. @default Metadata */
  readonly includeObject?: string;
}

/** The `meta.k8s.io/v1` Table that kubectl prints: cells are computed by the server. */
export function renderTable(request: TableRequest): object {
  const { resource, objects, metadata, includeHeaders = true } = request;
  const columns = request.columns ? customColumns(request.columns) : builtInColumns(resource);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: includeHeaders ? columns.map(definition) : null,
    rows: objects.map((object) => row(object, columns, request)),
  };
}

function definition({ name, type, priority, format = '', description = '' }: Column): object {
  return { name, type, format, description, priority };
}

function row(object: object, columns: readonly Column[], { nowMs, includeObject }: TableRequest): object {
  const cells = columns.map((column) => column.cell(object, nowMs));
  if (includeObject === 'None') return { cells };
  if (includeObject === 'Object') return { cells, object };
  const { metadata } = object as { readonly metadata?: object };
  return { cells, object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } };
}

function customColumns(columns: readonly PrinterColumn[]): readonly Column[] {
  return columns.length === 0 ? [nameColumn, ageColumn] : [nameColumn, ...columns.map(customColumn)];
}

function customColumn(column: PrinterColumn): Column {
  const read = jsonPath(column.jsonPath);
  return {
    ...column,
    priority: column.priority ?? 0,
    cell: (object, nowMs) => customCell(read(object), column.type, nowMs),
  };
}

/** An absent value is an empty cell; a date is shown as an age, as for built-in resources. */
function customCell(found: readonly unknown[], type: string, nowMs: number): unknown {
  if (found.length === 0) return null;
  if (type === 'date') return age(found[0], nowMs);
  if (type !== 'string') return found[0];
  return found.map(asText).join(' ');
}
