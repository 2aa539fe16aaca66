import type { FullResponse } from '../../../io/http/full-response.ts';
import { badRequest, internalError, isReason } from '../../../kube/api-error.ts';
import type { WatchHandle, WatchQuery } from '../../registry/registry.ts';
import { nameSelector, selectedName } from '../../registry/selection/selected-name.ts';
import type { IncomingRequest, OutgoingResponse, ResponseStream, StreamSink } from '../http/http-exchange.ts';
import type { ServerContext } from '../request-context.ts';
import { readListOptions } from '../requests/list-options.ts';
import { textParameter } from '../requests/query-values.ts';
import { negotiate } from '../responses/negotiation.ts';
import { listResponse, objectResponse } from '../responses/object-responses.ts';
import { includeObjectFromQuery } from '../responses/table.ts';
import type { ResourceTarget } from '../routing/router.ts';
import { errorLine, WatchEncoder } from '../watch/watch-encoder.ts';
import { WatchBacklog, WatchResponseStream } from '../watch/watch-response-stream.ts';

/**
 * The minimum duration of a watch if the client sets none. A random duration up to twice as long prevents all watches
 * from ending at once.
 */
const watchMinMs = 30 * 60_000;

export async function getResource(
  { registry, clock }: ServerContext,
  request: IncomingRequest,
  { kind, namespace, name = '', subresource }: ResourceTarget,
): Promise<FullResponse> {
  const format = negotiate(request, { shapes: 'all' });
  const resourceVersion = textParameter(request.query, 'resourceVersion');
  const snapshot = await registry.get(kind, { namespace, name }, { resourceVersion, subresource });
  return objectResponse(200, snapshot, { request, kind, format, nowMs: clock.nowMs() });
}

export async function listResource(
  { registry, clock }: ServerContext,
  request: IncomingRequest,
  { kind, namespace }: ResourceTarget,
): Promise<OutgoingResponse> {
  const format = negotiate(request, { shapes: 'all', isCollection: true });
  const { list } = readListOptions(request.query, namespace, false);
  const page = await registry.list(kind, list);
  return listResponse(200, page, { request, kind, format, nowMs: clock.nowMs() });
}

export async function watchResource(
  context: ServerContext,
  request: IncomingRequest,
  target: ResourceTarget,
): Promise<OutgoingResponse> {
  const { kind } = target;
  const { shape } = negotiate(request, { shapes: 'all', isStream: true });
  const { watch, timeoutSeconds } = readListOptions(request.query, target.namespace, true);
  const encoder = new WatchEncoder(kind, { shape, include: includeObjectFromQuery(request.query) });
  const backlog = new WatchBacklog();
  let handle: WatchHandle;
  try {
    handle = await context.registry.watch(kind, watchQuery(watch, target.name), backlog);
  } catch (error) {
    // Clients expect "too old" inside the stream, not as the response.
    if (isReason(error, 'Expired', 'Gone')) return endedWatchResponse(errorLine(error.status));
    throw error;
  }
  const { clock, flushScheduler, metrics } = context;
  const timeoutMs =
    timeoutSeconds === undefined ? watchMinMs * (1 + context.random.next()) : timeoutSeconds * 1000;
  const onError = (error: unknown) => {
    metrics.internalErrors += 1;
    context.onError(error, `watch of ${kind.plural}`);
    return internalError('an unexpected error occurred in the server; its log has the details').status;
  };
  const bookmarks = watch.bookmarks ?? false;
  const options = { backlog, handle, encoder, clock, flushScheduler, metrics, timeoutMs, bookmarks, onError };
  return streamResponse((sink) => new WatchResponseStream({ ...options, sink }));
}

/** A legacy path (`/watch/...`) names one object. A selector must select that same object: the caller was authorized for no other. */
function watchQuery(watch: WatchQuery, name: string | undefined): WatchQuery {
  if (name === undefined) return watch;
  const { fieldSelector } = watch;
  if (fieldSelector === undefined) return { ...watch, fieldSelector: nameSelector(name) };
  if (selectedName(fieldSelector) === name) return watch;
  throw badRequest("fieldSelector metadata.name doesn't match requested name");
}

function streamResponse(stream: (sink: StreamSink) => ResponseStream): OutgoingResponse {
  const headers = { 'Cache-Control': 'no-cache, private', 'Content-Type': 'application/json' };
  return { status: 200, headers, stream };
}

function endedWatchResponse(line: Uint8Array): OutgoingResponse {
  const nothing = () => {};
  return streamResponse((sink) => {
    sink.write(line);
    sink.end();
    return { drained: nothing, finish: nothing, closed: nothing };
  });
}
