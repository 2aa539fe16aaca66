import type { Status, StatusReason } from '../../kube/api/meta.ts';
import { ApiError } from '../../kube/api-error.ts';
import { isRecord } from '../../kube/wire.ts';

/** Length of the excerpt of a response that is not a Status: enough to recognize a login page or a proxy. */
const excerptLength = 200;

export interface ErrorAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The server's answer as an error. `request` names the request: `GET https://host/api/v1/pods`. */
export function failureOfAnswer(answer: ErrorAnswer, request: string): ApiError {
  const parsed = parseJson(answer.text);
  const retryAfterSeconds = retryAfterOf(answer);
  if (isRecord(parsed) && parsed.kind === 'Status') {
    const status = parsed as Status;
    const code = status.code ?? answer.statusCode;
    // This is all that a server answers to an unknown client, whatever the request.
    const named = status.message === 'Unauthorized' ? { message: `${request}: Unauthorized` } : {};
    return new ApiError(withRetryAfter({ ...status, ...named, code }, retryAfterSeconds));
  }
  const { statusCode: code } = answer;
  const message = describe(answer, request);
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  const reason = reasonOf(code, request);
  return new ApiError(
    withRetryAfter(reason === undefined ? status : { ...status, reason }, retryAfterSeconds),
  );
}

/** A 2xx answer with an unexpected body. */
export function malformedAnswer(answer: ErrorAnswer, request: string): ApiError {
  const message = `${request} was answered with ${answer.statusCode}, but the body is not JSON: ${excerpt(answer.text)}; check for a proxy in between`;
  return clientError(500, 'InternalError', message);
}

export function clientError(code: number, reason: StatusReason, message: string, cause?: unknown): ApiError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
  };
  return cause === undefined ? new ApiError(status) : new ApiError(status, { cause });
}

export interface TransportFailure {
  readonly error: ApiError;
  /** No part of the request can have reached the server. */
  readonly wasNeverSent: boolean;
  /** A retry would give the same result, as for an untrusted certificate. */
  readonly isPermanent: boolean;
}

/** The cause of a missing answer, as an error. */
export function failureOfTransport(cause: unknown, request: string): TransportFailure {
  const code = codeOf(cause);
  const why = messageOf(cause);
  if (isCertificateError(code)) {
    const remedy = 'check certificate-authority, tls-server-name and the host name in the kubeconfig';
    const error = clientError(
      503,
      'ServiceUnavailable',
      `${request}: the server's certificate is not trusted: ${why}; ${remedy}`,
      cause,
    );
    return { error, wasNeverSent: true, isPermanent: true };
  }
  const error = clientError(503, 'ServiceUnavailable', `${request}: ${why}`, cause);
  const isPermanent = code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
  return { error, wasNeverSent: neverSentCodes.has(code), isPermanent };
}

/** Errors of connecting, before a request is written. */
const neverSentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function isCertificateError(code: string): boolean {
  return /^(ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET_ISSUER))/.test(code);
}

function codeOf(cause: unknown): string {
  if (!isRecord(cause)) return '';
  if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  return typeof cause.code === 'string' ? cause.code : codeOf(cause.cause);
}

function messageOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '') return messageOf(cause.errors[0]);
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

function describe(answer: ErrorAnswer, request: string): string {
  const { statusCode, headers, text } = answer;
  if (statusCode >= 300 && statusCode < 400)
    return `${request} was redirected to ${String(headers.location)}, and redirects are not followed; set that server in the kubeconfig`;
  return `${request} was answered with ${statusCode}: ${excerpt(text)}`;
}

function excerpt(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (flat === '') return '(nothing)';
  return flat.length <= excerptLength ? flat : `${flat.slice(0, excerptLength)}...`;
}

function reasonOf(code: number, request: string): StatusReason | undefined {
  if (code === 409) return request.startsWith('POST') ? 'AlreadyExists' : 'Conflict';
  return reasons.get(code) ?? (code >= 500 ? 'InternalError' : undefined);
}

const reasons = new Map<number, StatusReason>([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [410, 'Gone'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [502, 'ServiceUnavailable'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

/** Seconds only: the API server never sends a date. */
function retryAfterOf({ headers }: ErrorAnswer): number | undefined {
  const header = headers['retry-after'];
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

function withRetryAfter(status: Status, seconds: number | undefined): Status {
  if (seconds === undefined || status.details?.retryAfterSeconds) return status;
  return { ...status, details: { ...status.details, retryAfterSeconds: seconds } };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Proxies and load balancers answer in HTML; the caller reports what it was.
    return undefined;
  }
}
