/** Counts what the server does. Plain numbers: whoever shows them reads them, nobody else writes them. */
export interface ServerMetrics {
  requests: number;
  /** Answers by status code. */
  readonly answers: Record<number, number>;
  answerBytes: number;
  inFlight: number;
  watchesOpen: number;
  watchesOpened: number;
  /** Watchers that read too slowly and were sent away. */
  watchesCut: number;
  watchEvents: number;
  watchBytes: number;
  /** Connections refused because there were too many. */
  connectionsRefused: number;
  /** Requests refused because too many bodies were being received at once. */
  bodiesRefused: number;
  /** Bugs of ours: an exception that is no answer. */
  crashes: number;
}

export function newMetrics(): ServerMetrics {
  return {
    requests: 0,
    answers: {},
    answerBytes: 0,
    inFlight: 0,
    watchesOpen: 0,
    watchesOpened: 0,
    watchesCut: 0,
    watchEvents: 0,
    watchBytes: 0,
    connectionsRefused: 0,
    bodiesRefused: 0,
    crashes: 0,
  };
}
