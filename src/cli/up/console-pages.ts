import type { ExtraPages } from '../../apiserver/server/api-server.ts';
import type { RequestHandler } from '../../apiserver/server/http/http-exchange.ts';
import type { Console } from '../../console/console.ts';
import { textResponse } from '../../io/http/full-response.ts';

/** `/console` on a server that answers before the console has started. */
export class ConsolePages implements ExtraPages {
  readonly name = 'console';
  #console: Pick<Console, 'handle'> | undefined;

  serve(console: Pick<Console, 'handle'>): void {
    this.#console = console;
  }

  readonly handle: RequestHandler = async (request) =>
    (await this.#console?.handle(request)) ??
    textResponse(503, 'The console is starting. Load this page again in a second.\n');
}
