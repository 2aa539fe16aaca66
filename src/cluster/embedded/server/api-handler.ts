import { badRequest, failure } from '../../api-error.ts';
import type { Verb } from '../kinds/kind.ts';
import { pathSegmentProblems } from '../validation/names.ts';
import { asApiError, crashAnswer, errorAnswer, valueAnswer } from './answers.ts';
import type { DiscoveryPages } from './discovery-pages.ts';
import { ClientGone, type HttpAnswer, type HttpRequest, pageNotFound, textAnswer } from './exchange.ts';
import { type HealthChecks, healthAnswer } from './health.ts';
import { isWatchRequest } from './list-options.ts';
import { negotiate } from './negotiation.ts';
import type { OpenApiPages } from './openapi-pages.ts';
import type { ServerContext } from './request-context.ts';
import { getResource, listResource, watchResource } from './resource-reads.ts';
import {
  createResource,
  deleteCollection,
  deleteResource,
  patchResource,
  postSubresource,
  readObject,
  updateResource,
} from './resource-writes.ts';
import { reviewed } from './reviews.ts';
import { type Page, type ResourceTarget, type Route, type Router, verbOf } from './router.ts';
import type { TokenCheck } from './token.ts';
import { versionBody } from './version.ts';
import { readWriteOptions } from './write-options.ts';

export interface ApiHandlerOptions {
  readonly context: ServerContext;
  readonly router: Router;
  readonly discovery: DiscoveryPages;
  readonly openApi: OpenApiPages;
  readonly readyChecks: HealthChecks;
  /** All of `/metrics`. */
  readonly metricsPage: () => string;
  readonly checkToken: (authorization: string | undefined) => TokenCheck;
}

/**
 * From a request to its answer: who asks, what for, and what the registry says to it. Everything refused becomes a Status; so
 * does a bug, after it has been reported.
 */
export class ApiHandler {
  readonly #options: ApiHandlerOptions;

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
  }

  readonly handle = async (request: HttpRequest): Promise<HttpAnswer> => {
    return withWarnings(request, await this.#answerOrStatus(request));
  };

  async #answerOrStatus(request: HttpRequest): Promise<HttpAnswer> {
    try {
      return await this.#answer(request);
    } catch (error) {
      if (error instanceof ClientGone) throw error;
      const told = asApiError(error);
      if (told !== undefined) return errorAnswer(request, told);
      this.#options.context.metrics.crashes += 1;
      this.#options.context.onError(error, `${request.method} ${request.path}`);
      return crashAnswer(request);
    }
  }

  async #answer(request: HttpRequest): Promise<HttpAnswer> {
    const route = this.#options.router.route(request.path);
    this.#authenticate(request, route);
    switch (route.kind) {
      case 'malformed':
        return textAnswer(400, '400 Bad Request');
      case 'missing':
        if (route.style === 'page') return pageNotFound();
        throw nowhere();
      case 'page':
        return this.#page(request, route.page, route.rest);
      case 'discovery':
        if (request.method !== 'GET') throw wrongMethod();
        return this.#options.discovery.answer(request, route.target);
      case 'review':
        return await this.#review(request, route);
      case 'resource':
        return await this.#resource(request, route.target);
    }
  }

  #authenticate(request: HttpRequest, route: Route): void {
    const check = this.#options.checkToken(request.headers.authorization);
    const isPublic = route.kind === 'page' && publicPages.has(route.page);
    if (check === 'wrong' || (check === 'missing' && !isPublic))
      throw failure(401, 'Unauthorized', 'Unauthorized');
    // There is one user. To answer as another one would be to say what that user may not see.
    if (Object.keys(request.headers).some((name) => name.startsWith('impersonate-'))) {
      throw failure(403, 'Forbidden', 'this server has one user and impersonates no others', {});
    }
  }

  #page(request: HttpRequest, page: Page, rest: string): HttpAnswer {
    switch (page) {
      case 'healthz':
      case 'livez':
      case 'readyz':
        return healthAnswer(request, page, rest, page === 'readyz' ? this.#options.readyChecks : {});
      case 'metrics':
        if (request.method !== 'GET') throw wrongMethod();
        return metricsAnswer(this.#options.metricsPage());
      case 'openapi/v3':
        return this.#options.openApi.answer(request, rest);
      case 'version':
        if (request.method !== 'GET') throw wrongMethod();
        // People read it, so it has line breaks whoever asks.
        return valueAnswer(200, { ...negotiate(request, { shapes: 'none' }), isPretty: true }, versionBody());
      case 'index':
        return valueAnswer(200, { media: 'json', isPretty: true }, { paths: this.#indexPaths() });
    }
  }

  #indexPaths(): readonly string[] {
    const pages = ['/healthz', '/livez', '/metrics', '/openapi/v3', '/readyz', '/version'];
    return [...this.#options.discovery.paths(), ...pages].sort();
  }

  async #review(request: HttpRequest, route: Extract<Route, { kind: 'review' }>): Promise<HttpAnswer> {
    if (request.method !== 'POST') throw wrongMethod();
    const form = negotiate(request, { shapes: 'none' });
    const options = readWriteOptions(request.query, request.headers['user-agent'], 'CreateOptions');
    const body = await readObject(request, route.review, options);
    const answer = reviewed(route.review, body, {
      namespace: route.namespace,
      now: `${new Date(this.#options.context.clock.nowMs()).toISOString().slice(0, 19)}Z`,
      isToken: (token) => this.#options.checkToken(`Bearer ${token}`) === 'right',
    });
    return valueAnswer(201, form, answer);
  }

  async #resource(request: HttpRequest, target: ResourceTarget): Promise<HttpAnswer> {
    const verb = verbOf(request.method, target, isWatchRequest(request.query));
    if (verb === undefined) throw wrongMethod();
    checkNames(target);
    if (target.kind.deprecation !== undefined) request.warnings.add(target.kind.deprecation);
    const { context } = this.#options;
    if (verb === 'create' && target.subresource !== undefined)
      return await postSubresource(context, request, target);
    return await actions[verb](context, request, target);
  }
}

/** By its type, Prometheus knows how to read it. */
function metricsAnswer(page: string): HttpAnswer {
  const answer = textAnswer(200, page);
  const headers = { ...answer.headers, 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };
  return { ...answer, headers };
}

/** Whoever is refused is warned as well: the warning may be about what was refused. */
function withWarnings({ warnings }: HttpRequest, answer: HttpAnswer): HttpAnswer {
  return warnings.isEmpty ? answer : { ...answer, headers: { ...answer.headers, ...warnings.headers() } };
}

/** These say nothing that needs guarding, and are asked by probes that have no token. */
const publicPages: ReadonlySet<Page> = new Set<Page>(['healthz', 'livez', 'readyz', 'version']);

type Action = (context: ServerContext, request: HttpRequest, target: ResourceTarget) => Promise<HttpAnswer>;

const actions: Readonly<Record<Verb, Action>> = {
  create: createResource,
  delete: deleteResource,
  deletecollection: deleteCollection,
  get: getResource,
  list: listResource,
  patch: patchResource,
  update: updateResource,
  watch: watchResource,
};

function checkNames({ name, namespace }: ResourceTarget): void {
  for (const [what, text] of [
    ['Namespace', namespace],
    ['Name', name],
  ] as const) {
    const problems = text === undefined ? [] : pathSegmentProblems(text);
    if (problems.length > 0) {
      throw badRequest(`${what} parameter invalid: ${JSON.stringify(text)}: ${problems.join(';')}`);
    }
  }
}

function nowhere() {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

function wrongMethod() {
  const message = 'the server does not allow this method on the requested resource';
  return failure(405, 'MethodNotAllowed', message, {});
}
