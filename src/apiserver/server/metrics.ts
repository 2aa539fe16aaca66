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
  /** Requests refused because too many bodies were being received at once. */
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
  const answers = metrics.counter(
    'stowage_apiserver_answers_total',
    'Answers to requests over HTTPS, by status code.',
    ['code'],
  );
  for (const [code, count] of Object.entries(server.responses)) answers.add({ code }, count);
  return metrics;
}

interface Published {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
}

const publishedNames: Readonly<Record<Exclude<keyof ServerMetrics, 'responses'>, Published>> = {
  requests: counted(
    'requests',
    'Requests over HTTPS that were begun. Controllers of the same process need none.',
  ),
  responseBytes: counted('answer_bytes', 'Bytes of answers, as they were sent, watches left out.'),
  inFlight: held('requests_in_flight', 'Requests that have not been answered yet.'),
  watchesOpen: held('watches', 'Watches that are open.'),
  watchesOpened: counted('watches_opened', 'Watches that were opened.'),
  watchesCut: counted('watches_cut', 'Watches that were cut because their readers were too slow.'),
  watchEvents: counted('watch_events', 'Events that were sent to watches.'),
  watchBytes: counted('watch_bytes', 'Bytes that were sent to watches.'),
  connectionsRefused: counted('connections_refused', 'Connections refused because there were too many.'),
  bodiesRefused: counted(
    'bodies_refused',
    'Requests refused because too many bodies were being received at once.',
  ),
  internalErrors: counted('crashes', 'Requests that met a bug of the server. Anything but 0 is a bug.'),
};

function counted(what: string, help: string): Published {
  return { name: `stowage_apiserver_${what}_total`, help, type: 'counter' };
}

function held(what: string, help: string): Published {
  return { name: `stowage_apiserver_${what}`, help, type: 'gauge' };
}
