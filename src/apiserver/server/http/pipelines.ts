import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More requests than any client sends before it reads a response. */
const waitingMax = 100;

type Serve = (message: IncomingMessage, response: ServerResponse) => void;

/**
 * Serves the requests of a connection one after the other, as Go's server does. Node parses all requests that have arrived
 * and would serve them at once; a client that sends thousands of requests and reads no response would make the server
 * keep thousands of responses.
 */
export class Pipelines {
  readonly #serve: Serve;
  readonly #waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  /** Disconnects a client that has too many requests waiting. */
  add(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      this.#start(message, response);
    } else if (waiting.length < waitingMax) waiting.push([message, response]);
    else {
      waiting.length = 0;
      socket.destroy();
    }
  }

  #start(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    response.once('close', () => {
      const next = socket.destroyed ? undefined : this.#waiting.get(socket)?.shift();
      if (next === undefined) this.#waiting.delete(socket);
      else this.#start(...next);
    });
    this.#serve(message, response);
  }
}
