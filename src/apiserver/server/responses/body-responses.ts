import { stringify } from 'yaml';
import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import { ApiError, failure, internalError } from '../../../kube/api-error.ts';
import { formatGoJson, jsonText } from '../../../kube/go/json-text.ts';
import { parseServerJson } from '../../schema/json-reader.ts';
import { StoreError } from '../../store/store-error.ts';
import type { GeneratedResponse, IncomingRequest } from '../http/http-exchange.ts';
import { type ListBody, listPieces, yamlOptions } from './list-body.ts';
import { errorFormat, type ResponseFormat } from './negotiation.ts';

/** A JSON or YAML response. `json` is the body as chunks that are sent in order. */
export function bodyResponse(
  status: number,
  format: Pick<ResponseFormat, 'media' | 'isPretty'>,
  json: readonly Uint8Array[],
  headers: HttpHeaders = {},
): FullResponse {
  const isYaml = format.media === 'yaml';
  const all = bodyHeaders(format, headers);
  if (!isYaml && !format.isPretty) return { status, headers: all, body: [...json, newline] };
  const value = parseServerJson(Buffer.concat(json).toString());
  const text = isYaml ? stringify(value, yamlOptions) : jsonText(value, 2);
  return { status, headers: all, body: [Buffer.from(text)] };
}

/** A response whose body is made while it is sent. */
export function generatedResponse(
  status: number,
  format: Pick<ResponseFormat, 'media' | 'isPretty'>,
  list: ListBody,
  headers: HttpHeaders = {},
): GeneratedResponse {
  return { status, headers: bodyHeaders(format, headers), pieces: listPieces(list, format) };
}

function bodyHeaders({ media }: Pick<ResponseFormat, 'media'>, headers: HttpHeaders): HttpHeaders {
  const type = media === 'yaml' ? 'application/yaml' : 'application/json';
  return { 'Cache-Control': 'no-cache, private', 'Content-Type': type, ...headers };
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

/** The error of a write that the disk did not take; undefined for other errors. It does not reveal the directory. */
export function storageFailure(error: unknown): ApiError | undefined {
  if (!(error instanceof StoreError)) return undefined;
  if (error.code === 'WriteFailed') {
    return internalError(
      'the server could not write to its data directory, so the change was not stored; its log has the reason',
    );
  }
  if (error.code !== 'DiskFull') return undefined;
  const message =
    'the disk of the server is full, so the change was not stored; free space on the disk of its data directory, then repeat the request';
  return failure(507, 'InternalError', message, {
    causes: [{ reason: 'DiskFull', message: 'no space left on device' }],
  });
}

const newline = Buffer.from('\n');
