import { ApiError, badRequest, expired, failure } from '../../../kube/api-error.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import { WorkSlices } from '../../../runtime/work-slices.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { StoreEntry } from '../../store/store.ts';
import {
  bucketOf,
  findOrThrow,
  type RegistryContext,
  snapshotOf,
  storeKey,
} from '../context/registry-context.ts';
import type { ListQuery, ObjectSnapshot, SnapshotGetOptions, SnapshotPage } from '../registry.ts';
import { compileFilter, type ObjectFilter } from '../selection/object-filter.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';
import { type WarmUpScope, warmUp } from './warm-up.ts';

export async function getObject(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  { resourceVersion }: SnapshotGetOptions,
): Promise<ObjectSnapshot> {
  checkNotFuture(context, getRevision(resourceVersion), resourceVersion);
  const { entry, snapshot } = findOrThrow(context, kind, key);
  await context.store.whenDurable(entry.revision);
  return snapshot;
}

/**
 * LIST. Returns the newest state, or an earlier revision if a continue token or the caller requires exactly that one.
 * In all other cases any state not older than requested is correct, and the newest one is available.
 */
export async function listObjects(
  context: RegistryContext,
  kind: ServedKind,
  query: ListQuery,
): Promise<SnapshotPage> {
  const filter = compileFilter(kind, query);
  const asked = revisionOf(query.resourceVersion);
  // A list at version `0` is not paged: paging serves clients that want a consistent list.
  const limit = asked === 0 && query.resourceVersion === '0' ? 0 : Math.max(0, query.limit ?? 0);
  const start =
    query.continue === undefined || query.continue === '' ? undefined : parseContinuation(query, asked);
  if (kind.definition !== undefined) await warmUp(context, kind, warmUpScope(filter, limit));
  checkNotFuture(context, asked, query.resourceVersion);
  // Tokens come from clients and may name a future revision.
  checkNotFuture(context, start?.revision ?? 0);
  const pageLength = isSingleObject(kind, filter) ? 0 : limit;
  const exact = start?.revision ?? (isExact(query, asked, pageLength) ? asked : undefined);
  const page = await readPage(context, kind, filter, { revision: exact, after: start?.after, limit });
  await context.store.whenDurable(Math.min(page.revision, context.store.revision));
  return snapshotPage(page, filter);
}

/** A selector for a single object is answered like a GET. */
function isSingleObject({ namespaced }: ServedKind, { name, namespace }: ObjectFilter): boolean {
  return name !== undefined && (namespace !== undefined || !namespaced);
}

/** A list with a selector may have to read all objects for one page. */
function warmUpScope({ namespace, name, matches }: ObjectFilter, limit: number): WarmUpScope {
  return { namespace, limit: name !== undefined ? 1 : matches === undefined ? limit : 0 };
}

/** A page at an old version is exactly that version, unless the caller accepts newer ones. */
function isExact({ resourceVersionMatch = '' }: ListQuery, asked: number, limit: number): boolean {
  if (resourceVersionMatch !== '') return resourceVersionMatch === 'Exact';
  return asked > 0 && limit > 0;
}

interface ReadPage {
  readonly items: readonly ObjectSnapshot[];
  readonly revision: number;
  /** The key after which the next page begins; undefined on the last page. */
  readonly last: string | undefined;
  readonly remaining: number;
}

interface PageRequest {
  /** Undefined for the newest state. */
  readonly revision: number | undefined;
  readonly after: string | undefined;
  /** 0 for no limit. */
  readonly limit: number;
}

/** Only the first step reads the store, so that the page shows one state although other work gets turns while objects are selected. */
async function readPage(
  context: RegistryContext,
  kind: ServedKind,
  filter: ObjectFilter,
  request: PageRequest,
): Promise<ReadPage> {
  const { limit } = request;
  const entries = candidates(context, kind, filter, request);
  const revision = request.revision ?? context.store.revision;
  const items: ObjectSnapshot[] = [];
  const slices = new WorkSlices();
  for (const [index, entry] of entries.entries()) {
    const snapshot = snapshotOf(context, kind, entry);
    if (filter.matches !== undefined) {
      const turn = slices.add(entry.bytes.length);
      if (turn !== undefined) await turn;
      if (!filter.matches(snapshot.object)) continue;
    }
    items.push(snapshot);
    if (items.length !== limit || index === entries.length - 1) continue;
    return { items, revision, last: entry.key, remaining: entries.length - index - 1 };
  }
  return { items, revision, last: undefined, remaining: 0 };
}

function candidates(
  context: RegistryContext,
  kind: ServedKind,
  filter: ObjectFilter,
  { revision, after }: PageRequest,
): readonly StoreEntry[] {
  const { namespace, name = '' } = filter;
  const bucket = bucketOf(context, kind);
  if (isSingleObject(kind, filter) && revision === undefined && after === undefined) {
    const entry = context.store.get(bucket, storeKey(kind, { namespace, name }));
    return entry === undefined ? [] : [entry];
  }
  const prefix = kind.namespaced && namespace !== undefined ? `${namespace}/` : undefined;
  if (revision === undefined) return context.store.list(bucket, { prefix, after });
  const entries = context.store.listAt(bucket, revision, { prefix, after });
  if (entries === undefined) throw tooOld(after);
  return entries;
}

/** The error for an expired list. Its token lets the client continue with the current state. */
function tooOld(after: string | undefined): ApiError {
  if (after === undefined) {
    return expired('The resourceVersion for the provided list is too old.');
  }
  const gone = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  const token = encodeContinue({ revision: -1, after });
  return new ApiError({ ...gone.status, metadata: { continue: token } });
}

function parseContinuation(query: ListQuery, asked: number) {
  const start = decodeContinue(query.continue ?? '');
  if (asked !== 0) throw badRequest('specifying resource version is not allowed when using continue');
  return { after: start.after, revision: start.revision > 0 ? start.revision : undefined };
}

function snapshotPage({ items, revision, last, remaining }: ReadPage, filter: ObjectFilter): SnapshotPage {
  return {
    items,
    resourceVersion: String(revision),
    continue: last === undefined ? undefined : encodeContinue({ revision, after: last }),
    remainingItemCount: last === undefined || filter.isSelective ? undefined : remaining,
  };
}

/** GET reports an invalid version with another message and as a 500. */
function getRevision(resourceVersion: string | undefined): number {
  const problem = resourceVersion ? versionSyntaxError(resourceVersion) : undefined;
  if (problem !== undefined) throw failure(500, undefined, problem);
  return revisionOf(resourceVersion);
}

/** 0 for no version and for `0`. All versions beyond a safe number are equally in the future. */
function revisionOf(resourceVersion: string | undefined): number {
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') return 0;
  const problem = versionSyntaxError(resourceVersion);
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`);
  return Number(resourceVersion);
}

/** Longer texts are out of range, unless they consist of leading zeros; converting many digits takes long. */
const versionDigitsMax = 100;

/** The message of Go's ParseUint for an invalid version; undefined if it is valid. */
export function versionSyntaxError(text: string): string | undefined {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && text.length <= versionDigitsMax && BigInt(text) < 2n ** 64n) return undefined;
  const quoted = JSON.stringify(text);
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`;
}

/** Refuses a future version; kube-apiserver waits a little first and then reports the same. */
export function checkNotFuture(context: RegistryContext, revision: number, text = String(revision)): void {
  if (revision <= context.store.revision) return;
  const message = `Timeout: Too large resource version: ${BigInt(text)}, current: ${context.store.revision}`;
  throw failure(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}
