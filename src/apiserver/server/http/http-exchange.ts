import type { IncomingHttpHeaders } from 'node:http';
import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import type { Warnings } from './warnings.ts';

/** A request as handlers see it: the head has been parsed, the body has not been received yet. */
export interface IncomingRequest {
  readonly method: string;
  /** As sent by the client: still escaped, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** All values of each header; `headers` joins repeated values into one text. */
  readonly headerValues: NodeJS.Dict<string[]>;
  /**
   * Receives the whole body; call it at most once. Rejects with an `ApiError` if the body is too large or too slow, and
   * with `ClientDisconnected`. All senders share the memory reserved for bodies.
   */
  body(sender: string): Promise<Buffer>;
  /** Aborts with `ClientDisconnected` when the connection closes before the response has been sent: no client waits for the result. */
  readonly closed: AbortSignal;
  /** Warnings for the response, whether it succeeds or fails. */
  readonly warnings: Warnings;
}

/** The response: complete, made while it is sent, or a stream that both sides may end. */
export type OutgoingResponse = FullResponse | GeneratedResponse | StreamResponse;

/** A response whose body is made no faster than the client reads it. Its length is not known before. */
export interface GeneratedResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface StreamResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Called once the head has been sent. */
  stream(sink: StreamSink): ResponseStream;
}

/** The connection that a stream writes to. */
export interface StreamSink {
  /** Bytes that the client has not received yet. */
  readonly unsentBytes: number;
  write(bytes: Uint8Array): void;
  /** Completes the response after everything written has arrived. */
  end(): void;
  /** Closes the connection immediately and drops unsent bytes. */
  cut(): void;
}

/** Callbacks from the server to a stream. */
export interface ResponseStream {
  /** The client has received everything written so far. */
  drained(): void;
  /** The server is closing: write what is left, then end. */
  finish(): void;
  /** The connection is closed, by either side; called exactly once. */
  closed(): void;
}

export type RequestHandler = (request: IncomingRequest) => Promise<OutgoingResponse>;

/** The client disconnected before its request was complete, so no response can be sent. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client disconnected before its request was complete');
    this.name = 'ClientGone';
  }
}
