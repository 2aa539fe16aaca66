import {
  ClientDisconnected,
  type IncomingRequest,
  type OutgoingResponse,
  type StreamSink,
} from '../../apiserver/server/http/http-exchange.ts';
import { isReason } from '../../kube/api-error.ts';
import { QuestionError } from '../../queries/question-error.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { isAllowedHost, isOwnOrigin } from '../access/host-check.ts';
import type { Rights } from '../access/rights.ts';
import {
  cookieWith,
  expiredCookie,
  isPlausibleToken,
  tokenIn,
  tokenInAuthorization,
} from '../access/session-cookie.ts';
import { rightsMaxAgeMs, type Viewer } from '../access/viewers.ts';
import type { ConsoleAbout } from '../wire/rows.ts';
import { assetAnswer, pageHtml } from './assets.ts';
import { htmlAnswer, problemAnswer, redirect } from './console-responses.ts';
import { DataPages } from './data-pages.ts';
import { EventStream, eventStreamResponse } from './event-stream.ts';
import type { ConsoleHandlerOptions } from './handler-options.ts';
import { hiddenTexts } from './hidden-texts.ts';
import { loginPage } from './login-page.ts';
import { BusyError } from './plan-slots.ts';
import { stateResponse } from './state-response.ts';

/** Streams at one time: a browser opens one for each page. One viewer cannot take them all. */
const streamsMax = 200;
const streamsOfViewerMax = 30;
/** A token, or one action. */
const bodyBytesMax = 16 * 1_024;

/** Answers requests below `/console`: who asks, what they may see, and which page they want. */
export class ConsoleHandler {
  readonly #options: ConsoleHandlerOptions;
  readonly #data: DataPages;

  constructor(options: ConsoleHandlerOptions) {
    this.#options = options;
    this.#data = new DataPages(options);
  }

  async handle(request: IncomingRequest): Promise<OutgoingResponse> {
    try {
      return await this.#respond(request);
    } catch (error) {
      if (error instanceof ClientDisconnected) throw error;
      if (isReason(error, 'Forbidden', 'NotFound', 'Conflict', 'Invalid', 'BadRequest', 'TooManyRequests'))
        return problemAnswer(error.code, error.message);
      if (error instanceof QuestionError) return problemAnswer(400, error.message);
      if (error instanceof BusyError) return problemAnswer(503, error.message);
      this.#options.onError(error, `${request.method} ${request.path}`);
      return problemAnswer(500, `the request to the console failed: ${messageOf(error)}`);
    }
  }

  async #respond(request: IncomingRequest): Promise<OutgoingResponse> {
    const { method, path, headers } = request;
    if (!isAllowedHost(headers.host, this.#options.hosts))
      return problemAnswer(421, 'this server is not known by this name; add it with --console-host');
    if (path === '/console') return redirect('/console/');
    if (!path.startsWith('/console/')) return problemAnswer(404, 'the console is at /console/');
    const rest = path.slice('/console/'.length);
    if (method === 'POST') {
      if (!isOwnOrigin(headers.origin, headers.host))
        return problemAnswer(403, 'this request must come from a page of the console itself');
      // Before anything is received: everyone who reaches the port can send this.
      const length = headers['content-length'];
      if (rest !== 'logout' && !(Number(length ?? Number.NaN) <= bodyBytesMax))
        return problemAnswer(413, `the body must have a Content-Length of at most ${bodyBytesMax}`);
      if (rest === 'login') return await this.#login(request);
      if (rest === 'logout') return redirect('/console/', { 'Set-Cookie': expiredCookie(headers.host) });
    } else if (method !== 'GET' && method !== 'HEAD')
      return problemAnswer(405, `the method ${method} is not supported`);
    if (rest.startsWith('assets/')) {
      const asset = await assetAnswer(rest.slice('assets/'.length), this.#options.version);
      return asset ?? problemAnswer(404, 'there is no such file');
    }
    const given = request.query.get('token');
    if (rest === '' && given !== null) return await this.#enterByAddress(given, headers.host);
    return await this.#asViewer(request, rest);
  }

  async #asViewer(request: IncomingRequest, rest: string): Promise<OutgoingResponse> {
    const { cookie, host, authorization } = request.headers;
    const token = tokenInAuthorization(authorization) ?? tokenIn(cookie, host);
    const viewer = token === undefined ? undefined : await this.#options.viewers.viewerOf(token);
    if (token === undefined || viewer === undefined)
      return rest === ''
        ? htmlAnswer(
            loginPage(
              token === undefined ? 'Sign in to see the cluster.' : 'The token is not valid any more.',
            ),
            401,
          )
        : problemAnswer(401, 'sign in first');
    if (rest === '') return htmlAnswer(await pageHtml());
    if (rest === 'data/state') {
      if (this.#options.isReading()) return problemAnswer(503, 'the console is still reading the cluster');
      this.#options.refresh();
      return stateResponse(this.#options.state.rows, viewer.rights, this.#about(viewer.rights));
    }
    if (rest === 'data/events') return this.#events(request, viewer, token);
    const [, page] = /^data\/([a-z]+)$/.exec(rest) ?? [];
    if (page === undefined) return problemAnswer(404, 'there is no such page');
    if (this.#options.isReading()) return problemAnswer(503, 'the console is still reading the cluster');
    return await this.#data.respond(request, page, viewer);
  }

  async #login(request: IncomingRequest): Promise<OutgoingResponse> {
    const form = new URLSearchParams((await request.body('console')).toString('utf8'));
    return await this.#enter((form.get('token') ?? '').trim(), request.headers.host);
  }

  /**
   * Only the token that this process has printed may be in the address: a link on another site must not sign the viewer in as another user, and tokens of
   * the cluster must not get into the history of the browser.
   */
  async #enterByAddress(token: string, host: string | undefined): Promise<OutgoingResponse> {
    if (this.#options.viewers.isOwn(token)) return await this.#enter(token, host);
    return htmlAnswer(loginPage('The token in the address is not valid. Sign in with a token.'), 401);
  }

  /** Moves the token into a cookie, so that it is neither in the address nor in the history of the browser. */
  async #enter(token: string, host: string | undefined): Promise<OutgoingResponse> {
    const viewer = isPlausibleToken(token) ? await this.#options.viewers.viewerOf(token) : undefined;
    if (viewer === undefined)
      return htmlAnswer(loginPage('The cluster does not accept this token. Sign in with another one.'), 401);
    return redirect('/console/', { 'Set-Cookie': cookieWith(token, host) });
  }

  #events(request: IncomingRequest, viewer: Viewer, token: string): OutgoingResponse {
    const { state, streams, clock, viewers } = this.#options;
    const own = [...streams].filter((stream) => stream.viewer === viewer.key).length;
    if (streams.size >= streamsMax || own >= streamsOfViewerMax)
      return problemAnswer(503, 'too many pages are open; close one');
    // A browser that resumes sends the id of the last event that it got.
    const resumed = request.headers['last-event-id'];
    const position = (typeof resumed === 'string' && resumed) || request.query.get('since') || '';
    return eventStreamResponse((sink: StreamSink) => {
      const stream = new EventStream(
        {
          rows: state.rows,
          viewer: viewer.key,
          rights: viewer.rights,
          position,
          clock,
          recheckMs: rightsMaxAgeMs,
          isStillAllowed: async () => (await viewers.viewerOf(token))?.rights.key === viewer.rights.key,
          onClosed: (closed) => streams.delete(closed),
        },
        sink,
      );
      streams.add(stream);
      return stream;
    });
  }

  #about(rights: Rights): ConsoleAbout {
    const { server, version, canWrite, frozen, clock } = this.#options;
    return {
      server,
      version,
      canWrite: canWrite && frozen === undefined,
      takenAtMs: frozen?.takenAtMs ?? null,
      hidden: hiddenTexts(rights),
      nowMs: clock.nowMs(),
    };
  }
}
