import type { Status, StatusCause, StatusDetails, StatusReason } from './api/meta.ts';
import { qualifiedKind, qualifiedPlural, type Resource } from './resource.ts';

/**
 * A failed request, as a Kubernetes Status. The embedded server throws it when it refuses a request, and the client of a real cluster
 * throws it when the server refused. Code decides by `reason`; `message` is for people.
 */
export class ApiError extends Error {
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? 'the request failed', options);
    this.name = 'ApiError';
    this.status = status;
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): StatusReason | undefined {
    return this.status.reason;
  }

  /** How long the server asks the client to wait before it retries. */
  get retryAfterSeconds(): number | undefined {
    return this.status.details?.retryAfterSeconds;
  }
}

export function isReason(error: unknown, ...reasons: readonly StatusReason[]): error is ApiError {
  return error instanceof ApiError && error.reason !== undefined && reasons.includes(error.reason);
}

/**
 * The server has refused a write, so it will never take effect. After any other error, such as a timeout, it may have taken effect, or still
 * may.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 408;
}

type NamedResource = Pick<Resource, 'group' | 'plural'>;
type NamedKind = Pick<Resource, 'group' | 'kind'>;

export function failure(
  code: number,
  reason: StatusReason | undefined,
  message: string,
  details?: StatusDetails,
): ApiError {
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

export function notFound(resource: NamedResource, name: string): ApiError {
  const message = `${qualifiedPlural(resource)} ${quote(name)} not found`;
  return failure(404, 'NotFound', message, detailsOf(resource, name));
}

export function alreadyExists(resource: NamedResource, name: string): ApiError {
  const message = `${qualifiedPlural(resource)} ${quote(name)} already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(resource, name));
}

export function conflict(resource: NamedResource, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualifiedPlural(resource)} ${quote(name)}: ${why}`;
  return failure(409, 'Conflict', message, detailsOf(resource, name));
}

export function forbidden(
  resource: NamedResource,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): ApiError {
  const subject = name === '' ? qualifiedPlural(resource) : `${qualifiedPlural(resource)} ${quote(name)}`;
  const details = { ...detailsOf(resource, name), ...(causes ? { causes } : {}) };
  return failure(403, 'Forbidden', `${subject} is forbidden: ${why}`, details);
}

/** The causes stay in the order in which validation found them. */
export function invalid(kind: NamedKind, name: string, causes: readonly StatusCause[]): ApiError {
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const summary = texts.length === 0 ? '<nil>' : texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const details = { name, group: kind.group, kind: kind.kind, causes };
  return failure(
    422,
    'Invalid',
    `${qualifiedKind(kind)} ${quote(name)} is invalid: ${summary}`,
    pruned(details),
  );
}

export function badRequest(message: string): ApiError {
  return failure(400, 'BadRequest', message);
}

export function internalError(message: string): ApiError {
  return failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

export function expired(message: string): ApiError {
  return failure(410, 'Expired', message);
}

export function methodNotAllowed(resource: NamedResource, verb: string): ApiError {
  const message = `${verb} is not supported on resources of kind ${quote(qualifiedPlural(resource))}`;
  return failure(405, 'MethodNotAllowed', message, pruned({ group: resource.group, kind: resource.plural }));
}

function detailsOf(resource: NamedResource, name: string): StatusDetails {
  return pruned({ name, group: resource.group, kind: resource.plural });
}

/** Go omits empty strings from the response. */
function pruned(details: StatusDetails): StatusDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== ''));
}

/** Equal to Go's %q for the characters that names may contain. */
function quote(text: string): string {
  return JSON.stringify(text);
}
