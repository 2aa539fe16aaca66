import type { Reply } from './http-client.ts';
import { discoveryByName } from './mask-discovery.ts';
import { openapiByName } from './mask-openapi.ts';
import type { Answer, Form } from './scenario.ts';

type Json = Readonly<Record<string, unknown>>;
type Column = { readonly name: string; readonly type?: string; readonly description?: string };

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** Token of a service account: a JSON Web Token. */
const tokenPattern = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
/** Cluster IPs of Services, in the range of the server that was recorded. */
const clusterIpPattern = /\b10\.96\.\d+\.\d+\b/g;
/** A diff of two Go structs, as lines between the sentences of a message. */
const goDiffPattern = /\n@@ -[\d,]+ \+[\d,]+ @@\n(?:(?:@@ |[ +-]).*(?:\n|$))+/g;
/** An object inside a message, with its fields in Go's order. */
const dumpPattern = /Invalid value: "\{\\".*\}": /g;
const nodePortPattern = /:3\d{4}\//g;
/** Resource versions inside messages. */
const versionPattern =
  /(object meta: |current: |in precondition: |resource version: |resourceVersion\\?":\\?"|\()(\d{2,})\b/g;
const ageColumns = new Set(['Age', 'Last Seen', 'First Seen', 'Last Schedule', 'Duration']);
const agePattern = /^(?:\d+[ydhms])+$/;

/** Times that a scenario chooses are older than this; times that a server sets are newer. */
const todayMs = 36 * 60 * 60_000;

/**
 * Makes answers comparable. Values that each server generates (uids, resource versions, names) are replaced by the step in which they first
 * appeared. So the comparison still shows whether a value stayed the same, and a difference in one step does not change the placeholders of
 * later steps.
 */
export class Mask {
  readonly #firstSeen = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #generatedNames = new Map<string, string>();
  readonly #generated: string[] = [];
  /** Within a watch, only the first table has column definitions. */
  #columns: readonly Column[] = [];
  #step = 0;

  answer(reply: Reply, step: number, form: Form): Answer {
    this.#step = step;
    const headers = headersOf(reply);
    const body = this.#body(reply, form);
    return {
      status: reply.status,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    };
  }

  #body({ text }: Reply, form: Form): unknown {
    const parsed = parse(text);
    if (form === 'keys') return parsed === undefined ? undefined : Object.keys(parsed as Json).sort();
    if (form === 'discovery') return discoveryByName(parsed);
    if (form === 'openapi') return openapiByName(parsed);
    this.#noteGeneratedNames(parsed);
    const masked = this.#value(parsed, '');
    return form === 'metadata' ? metadataOnly(masked) : masked;
  }

  /** For errors, which mention the generated name without showing the object. */
  noteGenerateName(prefix: string): void {
    // Kubernetes truncates the prefix so that the name fits into a label.
    this.#generated.push(prefix.slice(0, 58));
  }

  #noteGeneratedNames(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.#noteGeneratedNames(item);
    if (!isObject(value)) return;
    const { generateName, name } = value;
    if (typeof generateName === 'string' && typeof name === 'string' && name.startsWith(generateName)) {
      if (name.length === generateName.length + 5) this.#generatedNames.set(name, `${generateName}<5>`);
    }
    for (const item of Object.values(value)) this.#noteGeneratedNames(item);
  }

  #value(value: unknown, key: string): unknown {
    if (typeof value === 'string') return this.#string(value, key);
    if (typeof value === 'number') return /nodeport$/i.test(key) && value > 0 ? '<port>' : value;
    if (Array.isArray(value)) return this.#array(value, key);
    if (!isObject(value)) return value;
    const known = value.kind === 'Table' ? this.#withoutAges(value) : value;
    return this.#object(isListOrBookmark(known) ? withoutListVersion(known) : known);
  }

  #withoutAges(table: Json): Json {
    const rows = (table.rows ?? []) as readonly { readonly cells: readonly unknown[] }[];
    const columns = (table.columnDefinitions ?? []) as readonly Column[];
    if (columns.length > 0) this.#columns = columns;
    const cells = (row: readonly unknown[]) =>
      row.map((cell, i) => (isAge(this.#columns[i], cell) ? '<age>' : cell));
    const columnDefinitions = columns.map(({ description: _, ...column }) => column);
    return { ...table, columnDefinitions, rows: rows.map((row) => ({ ...row, cells: cells(row.cells) })) };
  }

  #array(items: readonly unknown[], key: string): unknown {
    if (key === 'managedFields') return [...items].sort(byManager).map((item) => this.#value(item, key));
    const values = items.map((item) => this.#value(item, key));
    return key === 'causes' ? withoutRepetition(conflictsByManager(values)) : values;
  }

  #object(value: Json): unknown {
    const keys = Object.keys(value).sort();
    return Object.fromEntries(keys.map((key) => [this.#text(key), this.#field(key, value[key])]));
  }

  #field(key: string, value: unknown): unknown {
    if (key === 'fieldsV1' && isObject(value)) return this.#text(fieldsText(value));
    return this.#value(value, key);
  }

  #string(text: string, key: string): string {
    if (key === 'resourceVersion') return text === '' || text === '0' ? text : this.#seen('rv', text);
    if (key === 'continue' && text !== '') return '<continue>';
    if (key === 'serverAddress') return '<address>';
    return this.#text(text);
  }

  #text(text: string): string {
    const known = text
      .replaceAll(tokenPattern, '<token>')
      .replaceAll(uidPattern, (uid) => this.#seen('uid', uid))
      .replaceAll(timePattern, (time, fraction?: string) => maskTime(time, fraction))
      .replaceAll(clusterIpPattern, '<cluster ip>')
      .replaceAll(nodePortPattern, ':<port>/')
      .replaceAll(versionPattern, (_, before: string, version: string) => this.#version(before, version));
    let named = known;
    for (const [name, generated] of this.#generatedNames) named = named.replaceAll(name, generated);
    for (const prefix of this.#generated) {
      named = named.replaceAll(
        new RegExp(`(${prefix})[bcdfghjklmnpqrstvwxz2-9]{5}(?![a-z0-9])`, 'g'),
        '$1<5>',
      );
    }
    return named.replaceAll(goDiffPattern, '\n<diff>').replaceAll(dumpPattern, 'Invalid value: "<dump>": ');
  }

  #version(before: string, version: string): string {
    const known = this.#firstSeen.get(`rv ${version}`);
    // The current version cannot be predicted when an old or a future version is requested.
    return before + (known ?? (/current: |\($/.test(before) ? '<rv>' : version));
  }

  /** Example: `<uid 3>` is the first uid that step 3 returned, `<uid 3.2>` the second. */
  #seen(what: string, value: string): string {
    const key = `${what} ${value}`;
    const known = this.#firstSeen.get(key);
    if (known !== undefined) return known;
    const place = `${what} ${this.#step}`;
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    const name = count === 1 ? `<${place}>` : `<${place}.${count}>`;
    this.#firstSeen.set(key, name);
    return name;
  }
}

/** Example: `metadata(labels(. a)) spec(replicas)` are the fields that a manager owns. */
function fieldsText(fields: Json): string {
  const texts = Object.entries(withoutMoment(fields)).map(([key, inner]) => {
    const name = key.replace(/^f:/, '');
    return isObject(inner) && Object.keys(inner).length > 0 ? `${name}(${fieldsText(inner)})` : name;
  });
  return texts.sort().join(' ');
}

/** A manager that changes a condition owns its time only if the time changed, which depends on whether a new second has begun. */
function withoutMoment(fields: Json): Json {
  const { 'f:lastTransitionTime': _, ...others } = fields;
  return '.' in fields ? fields : others;
}

/** Kubernetes repeats an error each time it validates metadata again; how often differs between kinds. */
function withoutRepetition(values: readonly unknown[]): readonly unknown[] {
  const texts = values.map((value) => JSON.stringify(value));
  return values.filter((_, i) => texts.indexOf(texts[i]!) === i);
}

/** The order of managers follows a Go map; the conflicts of one manager are in field order. */
function conflictsByManager(causes: readonly unknown[]): readonly unknown[] {
  const isOfConflict = (cause: unknown) => isObject(cause) && cause.reason === 'FieldManagerConflict';
  if (!causes.every(isOfConflict)) return causes;
  const manager = (cause: unknown) => String((cause as Json).message);
  return [...causes].sort((a, b) => (manager(a) < manager(b) ? -1 : Number(manager(a) > manager(b))));
}

function metadataOnly(body: unknown): unknown {
  if (!isObject(body) || body.kind === 'Status') return body;
  const { kind, apiVersion, metadata } = body;
  return { kind, apiVersion, metadata };
}

function headersOf({ headers }: Reply): Answer['headers'] {
  const type = headers['content-type'];
  const kept = {
    ...(type === undefined || type === 'application/json' ? {} : { 'content-type': type }),
    ...(headers.warning === undefined ? {} : { warning: warningsOf(headers.warning) }),
    ...(headers['retry-after'] === undefined ? {} : { 'retry-after': headers['retry-after'] }),
    ...(headers.location === undefined ? {} : { location: headers.location }),
    ...(headers.allow === undefined ? {} : { allow: headers.allow }),
  };
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** Node joins headers with the same name; each warning starts with its code. */
function warningsOf(text: string): readonly string[] {
  return text.split(/, (?=\d{3} - ")/);
}

/** Text that is not JSON stays text; a watch becomes the list of its events. */
function parse(text: string): unknown {
  if (text === '') return undefined;
  const whole = parseJson(text);
  if (whole !== undefined) return isEvent(whole) ? significant([whole]) : whole;
  const events = text.trim().split('\n').map(parseJson);
  return events.every(isEvent) ? significant(events) : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): boolean {
  return isObject(value) && 'type' in value && 'object' in value && Object.keys(value).length === 2;
}

/** The server chooses when to send bookmarks, except for the bookmark that ends the initial events. */
function significant(events: readonly unknown[]): readonly unknown[] {
  return events.filter(
    (event) => !/^\{"type":"BOOKMARK"(?!.*initial-events-end)/.test(JSON.stringify(event)),
  );
}

function isListOrBookmark({ kind, metadata, ...rest }: Json): boolean {
  if (typeof kind === 'string' && (kind.endsWith('List') || kind === 'Table')) return true;
  return (
    JSON.stringify(metadata)?.includes('initial-events-end') === true ||
    ('items' in rest && kind === undefined)
  );
}

/** The version of a list is that of the newest write to any kind, including internal writes of the server. */
function withoutListVersion(list: Json): Json {
  const metadata = list.metadata as Json | undefined;
  if (typeof metadata?.resourceVersion !== 'string' || metadata.resourceVersion === '') return list;
  return { ...list, metadata: { ...metadata, resourceVersion: '0', listedAt: '<rv>' } };
}

function isAge(column: Column | undefined, cell: unknown): boolean {
  const isOfTime = ageColumns.has(column?.name ?? '') || column?.type === 'date';
  return isOfTime && typeof cell === 'string' && agePattern.test(cell);
}

function maskTime(time: string, fraction: string | undefined): string {
  if (Math.abs(Date.parse(time) - Date.now()) > todayMs) return time;
  return fraction === undefined ? '<time>' : `<time.${'0'.repeat(fraction.length - 1)}>`;
}

/** The server sorts managers by time, which may or may not fall into the same second. */
function byManager(a: unknown, b: unknown): number {
  const [left, right] = [a, b].map((entry) => {
    const { manager, operation, apiVersion, subresource } = entry as Json;
    return JSON.stringify([manager, operation, apiVersion, subresource ?? '']);
  });
  return left! < right! ? -1 : 1;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
