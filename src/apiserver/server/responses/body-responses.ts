import { stringify } from 'yaml';
import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import { ApiError, internalError } from '../../../kube/api-error.ts';
import { formatGoJson } from '../../../kube/go/json-text.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { errorFormat, type ResponseFormat } from './negotiation.ts';

/** A JSON or YAML response. `json` is the body as chunks that are sent in order. */
export function bodyResponse(
  status: number,
  format: Pick<ResponseFormat, 'media' | 'isPretty'>,
  json: readonly Uint8Array[],
  headers: HttpHeaders = {},
): FullResponse {
  const isYaml = format.media === 'yaml';
  const all = {
    'Cache-Control': 'no-cache, private',
    'Content-Type': isYaml ? 'application/yaml' : 'application/json',
    ...headers,
  };
  if (!isYaml && !format.isPretty) return { status, headers: all, body: [...json, newline] };
  const value: unknown = JSON.parse(Buffer.concat(json).toString());
  const text = isYaml ? stringify(value, yamlOptions) : JSON.stringify(value, undefined, 2);
  return { status, headers: all, body: [Buffer.from(text)] };
}

export function valueResponse(
  status: number,
  format: Pick<ResponseFormat, 'media' | 'isPretty'>,
  value: unknown,
  headers?: HttpHeaders,
): FullResponse {
  return bodyResponse(status, format, [Buffer.from(formatGoJson(value))], headers);
}

/** A Status with the error's code, reason and message. */
export function errorResponse(
  request: IncomingRequest,
  error: ApiError,
  headers: HttpHeaders = {},
): FullResponse {
  const retry = error.retryAfterSeconds;
  const retryHeaders: HttpHeaders = retry === undefined ? {} : { 'Retry-After': String(retry) };
  return valueResponse(error.code, errorFormat(request), error.status, { ...headers, ...retryHeaders });
}

/** The response to an unexpected exception: it reveals no details. */
export function internalErrorResponse(request: IncomingRequest): FullResponse {
  return errorResponse(
    request,
    internalError('an unexpected error occurred in the server; its log has the details'),
  );
}

export function asApiError(error: unknown): ApiError | undefined {
  return error instanceof ApiError ? error : undefined;
}

/** Go's key order and indentation; text that YAML 1.1 would read as another type is quoted. */
const yamlOptions = { lineWidth: 80, sortMapEntries: true, version: '1.1', indentSeq: false } as const;

const newline = Buffer.from('\n');
