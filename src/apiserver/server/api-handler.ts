import { pageNotFound, textResponse } from '../../io/http/full-response.ts';
import { type HealthChecks, healthResponse } from '../../io/http/health-pages.ts';
import { badRequest, failure, notFound } from '../../kube/api-error.ts';
import { assert } from '../../runtime/assert.ts';
import { type Access, type Caller, openIdConfiguration } from '../access/access.ts';
import type { Attributes } from '../access/attributes.ts';
import type { RequestVerb } from '../kinds/served-kind.ts';
import { storedOnlyWarning } from '../kinds/stored-only-kinds.ts';
import { pathSegmentProblems } from '../validation/names.ts';
import type { DiscoveryPages } from './discovery/discovery-pages.ts';
import { ClientDisconnected, type IncomingRequest, type OutgoingResponse } from './http/http-exchange.ts';
import type { OpenApiPages } from './openapi/openapi-pages.ts';
import type { OpenApiV2Page } from './openapi/v2-page.ts';
import type { RequestContext, ServerContext } from './request-context.ts';
import { isWatchRequest } from './requests/list-options.ts';
import { readRequestObject } from './requests/request-object.ts';
import { checkTimeoutParameter } from './requests/request-timeout.ts';
import { readWriteOptions } from './requests/write-options.ts';
import { getResource, listResource, watchResource } from './resources/resource-reads.ts';
import {
  createResource,
  deleteResource,
  deleteResourceCollection,
  patchResource,
  postSubresource,
  updateResource,
} from './resources/resource-writes.ts';
import {
  asApiError,
  errorResponse,
  internalErrorResponse,
  storageFailure,
  valueResponse,
} from './responses/body-responses.ts';
import { negotiate } from './responses/negotiation.ts';
import { answerReview } from './reviews/reviews.ts';
import { createToken, isTokenRequest } from './reviews/token-requests.ts';
import {
  type ResourceTarget,
  type Route,
  type Router,
  type ServerPage,
  type SubresourceTarget,
  verbOfRequest,
} from './routing/router.ts';
import { noMetricsError } from './routing/simulated-metrics.ts';
import { simulatedError } from './routing/simulated-subresources.ts';
import { versionBody } from './version.ts';

export interface ApiHandlerOptions {
  readonly context: ServerContext;
  readonly router: Router;
  readonly discovery: DiscoveryPages;
  readonly openApi: OpenApiPages;
  readonly openApiV2: OpenApiV2Page;
  readonly readyChecks: HealthChecks;
  /** The complete text of `/metrics`. */
  readonly metricsPage: () => string;
  readonly access: Access;
  /** Where clients reach the server; known only once it listens. */
  readonly serverAddress: () => string;
}

/**
 * Handles a request: authenticates and authorizes the caller, routes the path, calls the registry and builds the
 * response. Every refusal becomes a Status. So does an unexpected exception, after it was reported to `onError`.
 */
export class ApiHandler {
  readonly #options: ApiHandlerOptions;

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
  }

  readonly handle = async (request: IncomingRequest): Promise<OutgoingResponse> => {
    return addWarnings(request, await this.#respondOrStatus(request));
  };

  async #respondOrStatus(request: IncomingRequest): Promise<OutgoingResponse> {
    try {
      return await this.#respond(request);
    } catch (error) {
      if (error instanceof ClientDisconnected) throw error;
      const apiError = asApiError(error);
      if (apiError !== undefined) return errorResponse(request, apiError);
      this.#options.context.onError(error, `${request.method} ${request.path}`);
      const notStored = storageFailure(error);
      if (notStored !== undefined) return errorResponse(request, notStored);
      this.#options.context.metrics.internalErrors += 1;
      return internalErrorResponse(request);
    }
  }

  async #respond(request: IncomingRequest): Promise<OutgoingResponse> {
    const route = this.#options.router.route(request.path);
    // Before authentication, as in kube-apiserver. Watches have no deadline, whatever the parameter says.
    if (!isWatchRequest(request.query)) checkTimeoutParameter(request.query);
    const caller = await this.#authorize(request, route);
    switch (route.kind) {
      case 'malformed':
        return textResponse(400, '400 Bad Request');
      case 'missing':
        if (route.style === 'page') return pageNotFound();
        throw resourceNotFound();
      case 'missingSubresource':
        throw notFound(route.resource, route.name);
      case 'page':
        return await this.#page(request, route.page, route.rest);
      case 'discovery':
        if (request.method !== 'GET') throw methodNotAllowed();
        return this.#options.discovery.respond(request, route.target);
      case 'review':
        return await this.#review(request, route, caller);
      case 'metrics':
        return await this.#metrics(route);
      case 'simulated':
        return await this.#simulated(route.target);
      case 'resource':
        return await this.#resource(request, route.target, caller);
    }
  }

  async #authorize(request: IncomingRequest, route: Route): Promise<Caller> {
    const { method, path, query, headers } = request;
    return await this.#options.access.authorizeRequest({
      method,
      path,
      query,
      isWatch: isWatchRequest(query),
      authorization: headers.authorization,
      headerValues: hasImpersonationHeaders(headers) ? request.headerValues : {},
      isPublic: route.kind === 'page' && publicPages.has(route.page) && readMethods.has(method),
    });
  }

  async #page(request: IncomingRequest, page: ServerPage, rest: string): Promise<OutgoingResponse> {
    switch (page) {
      case 'healthz':
      case 'livez':
      case 'readyz':
        return healthResponse(request, page, rest, page === 'readyz' ? this.#options.readyChecks : {});
      case 'metrics':
        if (request.method !== 'GET') throw methodNotAllowed();
        return metricsResponse(this.#options.metricsPage());
      case 'openapi/v2':
        return await this.#options.openApiV2.respond(request);
      case 'openapi/v3':
        return this.#options.openApi.respond(request, rest);
      case 'version':
        if (request.method !== 'GET') throw methodNotAllowed();
        // People read this page, so it is always pretty-printed.
        return valueResponse(
          200,
          { ...negotiate(request, { shapes: 'none' }), isPretty: true },
          versionBody(),
        );
      case 'openid/v1/jwks':
        if (request.method !== 'GET') throw methodNotAllowed();
        return publicDocument('application/jwk-set+json', this.#options.access.keySet);
      case '.well-known/openid-configuration':
        if (request.method !== 'GET') throw methodNotAllowed();
        return publicDocument('application/json', openIdConfiguration(this.#options.serverAddress()));
      case 'index':
        return valueResponse(200, { media: 'json', isPretty: true }, { paths: this.#indexPaths() });
    }
  }

  #indexPaths(): readonly string[] {
    const pages = [
      '/.well-known/openid-configuration',
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/openid/v1/jwks',
      '/readyz',
      '/version',
    ];
    return [...this.#options.discovery.paths(), ...pages].sort();
  }

  async #review(
    request: IncomingRequest,
    route: Extract<Route, { kind: 'review' }>,
    { user }: Caller,
  ): Promise<OutgoingResponse> {
    if (request.method !== 'POST') throw methodNotAllowed();
    const format = negotiate(request, { shapes: 'none' });
    const options = readWriteOptions(request.query, request.headers['user-agent'], 'CreateOptions');
    const body = await readRequestObject(request, user, route.review, options);
    const answered = await answerReview(route.review, body, {
      namespace: route.namespace,
      now: `${new Date(this.#options.context.clock.nowMs()).toISOString().slice(0, 19)}Z`,
      user,
      access: this.#options.access,
    });
    return valueResponse(201, format, answered);
  }

  /** An object that does not exist is reported as such first. */
  async #simulated({ kind, namespace, name, subresource }: SubresourceTarget): Promise<never> {
    await this.#options.context.registry.get(kind, { namespace, name });
    throw simulatedError(kind, subresource);
  }

  /** Rejects with NotFound if the object does not exist. */
  async #metrics({ resource, key }: Extract<Route, { kind: 'metrics' }>): Promise<never> {
    const { namespace, name } = key;
    if (name !== undefined) await this.#options.context.registry.get(resource, { namespace, name });
    throw noMetricsError(resource.plural);
  }

  async #resource(
    request: IncomingRequest,
    target: ResourceTarget,
    caller: Caller,
  ): Promise<OutgoingResponse> {
    const verb = verbOfRequest(request.method, target, isWatchRequest(request.query));
    if (verb === undefined) throw methodNotAllowed();
    assert(
      isAuthorizedAction(target, verb, caller.attributes),
      `${request.path}: the router and the access layer disagree`,
    );
    checkNames(target);
    if (target.kind.deprecation !== undefined) request.warnings.add(target.kind.deprecation);
    const { access } = this.#options;
    const context = { ...this.#options.context, caller };
    if (isTokenRequest(target)) return await createToken(context, access, request, target);
    if (verb === 'create' && target.subresource !== undefined)
      return await postSubresource(context, request, target);
    const response = await actions[verb](context, request, target);
    if (objectWrites.has(verb)) warnOfStoredOnly(request, target);
    return response;
  }
}

const objectWrites: ReadonlySet<RequestVerb> = new Set<RequestVerb>(['create', 'update', 'patch']);

/** Only after a successful write: a refused object is not stored. A write to the status comes from a controller of the client. */
function warnOfStoredOnly(request: IncomingRequest, { kind, subresource }: ResourceTarget): void {
  const warning = storedOnlyWarning(kind);
  if (warning !== undefined && subresource !== 'status') request.warnings.add(warning);
}

/** Few requests impersonate, and `headerValues` is expensive to compute. */
function hasImpersonationHeaders(headers: IncomingRequest['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/** Prometheus selects its parser by this content type. */
function metricsResponse(page: string): OutgoingResponse {
  const response = textResponse(200, page);
  const headers = { ...response.headers, 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };
  return { ...response, headers };
}

/** Whether the action about to be executed is the one the caller was authorized for: the access layer parses the path independently. */
function isAuthorizedAction(
  target: ResourceTarget,
  verb: RequestVerb,
  attributes: Attributes | undefined,
): boolean {
  if (attributes?.kind !== 'resource') return false;
  const { kind, namespace = '', name = '', subresource = '' } = target;
  const isOfNamespace = kind.group === '' && kind.plural === 'namespaces' && name !== '';
  return (
    attributes.verb === verb &&
    attributes.group === kind.group &&
    attributes.resource === kind.plural &&
    attributes.subresource === subresource &&
    attributes.namespace === (isOfNamespace ? name : namespace) &&
    // A field selector may name an object when the path does not.
    (name === '' || attributes.name === name)
  );
}

/** Any client may cache it for an hour. */
function publicDocument(type: string, document: object): OutgoingResponse {
  const headers = { 'Cache-Control': 'public, max-age=3600', 'Content-Type': type };
  return { status: 200, headers, body: [Buffer.from(JSON.stringify(document))] };
}

/** Error responses carry warnings too: a warning may explain the refusal. */
function addWarnings({ warnings }: IncomingRequest, response: OutgoingResponse): OutgoingResponse {
  return warnings.isEmpty
    ? response
    : { ...response, headers: { ...response.headers, ...warnings.headers() } };
}

/** These pages reveal nothing sensitive, and probes request them without a token. */
const publicPages: ReadonlySet<ServerPage> = new Set<ServerPage>(['healthz', 'livez', 'readyz', 'version']);

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

type Action = (
  context: RequestContext,
  request: IncomingRequest,
  target: ResourceTarget,
) => Promise<OutgoingResponse>;

const actions: Readonly<Record<RequestVerb, Action>> = {
  create: createResource,
  delete: deleteResource,
  deletecollection: deleteResourceCollection,
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

function resourceNotFound() {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

function methodNotAllowed() {
  const message = 'the server does not allow this method on the requested resource';
  return failure(405, 'MethodNotAllowed', message, {});
}
