import { Metrics } from '../../runtime/metrics.ts';

/** Counters of the server. Only the server writes them; the metrics page reads them. */
export interface ServerMetrics {
  requests: number;
  /** Responses by status code. */
  readonly responses: Record<number, number>;
  responseBytes: number;
  inFlight: number;
  watchesOpen: number;
  watchesOpened: number;
  /** Watches that were closed because their clients read too slowly. */
  watchesCut: number;
  watchEvents: number;
  watchBytes: number;
  /** Connections refused because there were too many. */
  connectionsRefused: number;
  /** Requests refused because too many bodies were being received at the same time. */
  bodiesRefused: number;
  /** Unexpected exceptions: bugs of the server. */
  internalErrors: number;
}

export function newMetrics(): ServerMetrics {
  return {
    requests: 0,
    responses: {},
    responseBytes: 0,
    inFlight: 0,
    watchesOpen: 0,
    watchesOpened: 0,
    watchesCut: 0,
    watchEvents: 0,
    watchBytes: 0,
    connectionsRefused: 0,
    bodiesRefused: 0,
    internalErrors: 0,
  };
}

/** The same numbers under their public metric names. */
export function publishedMetrics(server: ServerMetrics): Metrics {
  const metrics = new Metrics();
  for (const [key, { name, help, type }] of Object.entries(publishedNames)) {
    const value = server[key as keyof typeof publishedNames];
    if (type === 'gauge') metrics.gauge(name, help).set(value);
    else metrics.counter(name, help).add({}, value);
  }
  const responses = metrics.counter(
    'stowage_apiserver_responses_total',
    'Responses to requests over HTTPS, by status code.',
    ['code'],
  );
  for (const [code, count] of Object.entries(server.responses)) responses.add({ code }, count);
  return metrics;
}

interface Published {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
}

const publishedNames: Readonly<Record<Exclude<keyof ServerMetrics, 'responses'>, Published>> = {
  requests: counterOf('requests', 'Requests over HTTPS. Controllers of the same process send none.'),
  responseBytes: counterOf('response_bytes', 'Bytes of responses as sent, without watches.'),
  inFlight: gaugeOf('requests_in_flight', 'Requests in progress.'),
  watchesOpen: gaugeOf('watches', 'Open watches.'),
  watchesOpened: counterOf('watches_opened', 'Watches opened.'),
  watchesCut: counterOf('watches_cut', 'Watches closed because their clients read too slowly.'),
  watchEvents: counterOf('watch_events', 'Events sent to watches.'),
  watchBytes: counterOf('watch_bytes', 'Bytes sent to watches.'),
  connectionsRefused: counterOf('connections_refused', 'Connections refused because there were too many.'),
  bodiesRefused: counterOf(
    'bodies_refused',
    'Requests refused because too many bodies were being received at once.',
  ),
  internalErrors: counterOf(
    'internal_errors',
    'Requests that failed with an unexpected exception. Any value other than 0 is a bug of the server.',
  ),
};

function counterOf(what: string, help: string): Published {
  return { name: `stowage_apiserver_${what}_total`, help, type: 'counter' };
}

function gaugeOf(what: string, help: string): Published {
  return { name: `stowage_apiserver_${what}`, help, type: 'gauge' };
}
