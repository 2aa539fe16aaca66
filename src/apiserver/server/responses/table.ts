import { badRequest } from '../../../kube/api-error.ts';
import { jsonText } from '../../../kube/go/json-text.ts';
import type { ServedKind, TableColumn } from '../../kinds/served-kind.ts';
import type { ObjectSnapshot } from '../../registry/registry.ts';
import { type ListBody, type ListElement, listJson } from './list-body.ts';
import type { MetaVersion } from './negotiation.ts';
import { objectJson } from './object-json.ts';
import { partialMetadataJson } from './partial-metadata.ts';

/** What each row contains besides its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableFormat {
  readonly version: MetaVersion;
  readonly include: IncludeObject;
  /** The current time, for computing ages. */
  readonly nowMs: number;
}

/** The parts of a kind that define its tables. */
export type TableSource = Pick<ServedKind, 'columns' | 'row' | 'rowConditions'>;

export function includeObjectFromQuery(query: URLSearchParams): IncludeObject {
  const asked = query.get('includeObject') ?? '';
  if (asked === 'None' || asked === 'Metadata' || asked === 'Object') return asked;
  if (asked === '') return 'Metadata';
  const problem = `Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: includeObject: ${problem}`);
}

/** Objects as a table, as kubectl prints them. Only the first table of a watch has column definitions. */
export function tableBody(
  kind: TableSource,
  snapshots: readonly ObjectSnapshot[],
  metadata: object,
  tableFormat: TableFormat & { readonly hasColumns: boolean },
): ListBody {
  const { version, hasColumns } = tableFormat;
  const columnDefinitions = hasColumns ? kind.columns.map(columnDefinition) : null;
  const apiVersion = `meta.k8s.io/${version}`;
  return {
    fields: { kind: 'Table', apiVersion, metadata, columnDefinitions },
    listField: 'rows',
    elements: rows(kind, snapshots, tableFormat),
  };
}

/** As `tableBody`, in one piece. */
export function tableJson(...table: Parameters<typeof tableBody>): Uint8Array[] {
  return listJson(tableBody(...table));
}

function* rows(
  kind: TableSource,
  snapshots: readonly ObjectSnapshot[],
  format: TableFormat,
): Generator<ListElement> {
  for (const snapshot of snapshots) {
    yield { json: rowJson(kind, snapshot, format), workBytes: snapshot.json.length };
  }
}

/** A bookmark of a watch of tables: one row with empty cells. */
export function tableBookmark(kind: TableSource, metadata: object, version: MetaVersion): string {
  const cells = kind.columns.map(({ name, type }) =>
    name === 'Age' ? '<unknown>' : type === 'string' ? '' : 0,
  );
  const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata };
  const { resourceVersion } = metadata as { readonly resourceVersion: string };
  return `${tableHead(version, { resourceVersion })}null,"rows":[${JSON.stringify({ cells, object })}]}`;
}

const rowEnd = Buffer.from('}');

function tableHead(version: MetaVersion, metadata: object): string {
  const metadataJson = jsonText(metadata);
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${metadataJson},"columnDefinitions":`;
}

function rowJson(
  kind: TableSource,
  snapshot: ObjectSnapshot,
  { include, version, nowMs }: TableFormat,
): Uint8Array[] {
  const start = `{"cells":${jsonText(kind.row(snapshot.object, { nowMs }))}${conditionsJson(kind, snapshot)}`;
  if (include === 'None') return [Buffer.from(`${start},"object":null}`)];
  const object = include === 'Object' ? objectJson(snapshot) : [partialMetadataJson(snapshot, version)];
  return [Buffer.from(`${start},"object":`), ...object, rowEnd];
}

function conditionsJson(kind: TableSource, { object }: ObjectSnapshot): string {
  const conditions = kind.rowConditions?.(object);
  return conditions === undefined ? '' : `,"conditions":${JSON.stringify(conditions)}`;
}

function columnDefinition({ name, type, format, description, priority }: TableColumn): object {
  return {
    name,
    type,
    format: format ?? '',
    description: description ?? descriptions[name] ?? '',
    priority: priority ?? 0,
  };
}

/** kubectl does not show these descriptions; other programs may. */
const descriptions: Readonly<Record<string, string>> = {
  Name: 'The name of the object, unique within its namespace.',
  Age: 'How long ago the object was created.',
};
