import type { IncomingHttpHeaders } from 'node:http';
import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import type { Warnings } from './warnings.ts';

/** A request as handlers see it: who asked for what is known, the body is still on its way. */
export interface ApiRequest {
  readonly method: string;
  /** As it was sent, still escaped, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** All values of each header; `headers` puts those of one that comes several times into one text. */
  readonly headerValues: NodeJS.Dict<string[]>;
  /**
   * All of it; rejects with an `ApiError` where it is too large or too slow, or with `ClientDisconnected`. Senders share the room that there
   * is for bodies. Call it once at most.
   */
  body(sender: string): Promise<Buffer>;
  /** What the answer will warn of, be it good or bad. */
  readonly warnings: Warnings;
}

/** What is sent back: all at once, or for as long as both sides like. */
export type ApiResponse = FullResponse | StreamResponse;

export interface StreamResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Called once the head is on its way. */
  stream(sink: StreamSink): ResponseStream;
}

/** One connection that is being written to. */
export interface StreamSink {
  /** Bytes that the other side has not taken yet. */
  readonly unsentBytes: number;
  write(bytes: Uint8Array): void;
  /** In good order: what was written arrives, then the answer is complete. */
  end(): void;
  /** At once, with whatever was not taken. */
  cut(): void;
}

/** What the server tells a stream. */
export interface ResponseStream {
  /** The other side has taken everything. */
  drained(): void;
  /** The server is closing: say what is to be said and end. */
  finish(): void;
  /** The connection is gone, whoever ended it; called exactly once. */
  closed(): void;
}

export type ApiRequestHandler = (request: ApiRequest) => Promise<ApiResponse>;

/** The other side hung up in the middle of its request; there is nobody to answer. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client went away before its request was complete');
    this.name = 'ClientGone';
  }
}
