import { stringify } from 'yaml';
import type { FullAnswer, HttpHeaders } from '../../../io/http/full-response.ts';
import { ApiError, internalError } from '../../../kube/api-error.ts';
import { goJson } from '../../../kube/go/quote.ts';
import type { HttpRequest } from '../http/http-exchange.ts';
import { errorForm, type OutputForm } from './negotiation.ts';

/** An answer in JSON or YAML. `json` is what is to be said, as pieces that are sent one after the other. */
export function bodyAnswer(
  status: number,
  form: Pick<OutputForm, 'media' | 'isPretty'>,
  json: readonly Uint8Array[],
  headers: HttpHeaders = {},
): FullAnswer {
  const isYaml = form.media === 'yaml';
  const all = {
    'Cache-Control': 'no-cache, private',
    'Content-Type': isYaml ? 'application/yaml' : 'application/json',
    ...headers,
  };
  if (!isYaml && !form.isPretty) return { status, headers: all, body: [...json, newline] };
  const value: unknown = JSON.parse(Buffer.concat(json).toString());
  const text = isYaml ? stringify(value, yamlOptions) : JSON.stringify(value, undefined, 2);
  return { status, headers: all, body: [Buffer.from(text)] };
}

export function valueAnswer(
  status: number,
  form: Pick<OutputForm, 'media' | 'isPretty'>,
  value: unknown,
  headers?: HttpHeaders,
): FullAnswer {
  return bodyAnswer(status, form, [Buffer.from(goJson(value))], headers);
}

/** A refusal, in Kubernetes' words. */
export function errorAnswer(request: HttpRequest, error: ApiError, headers: HttpHeaders = {}): FullAnswer {
  const retry = error.retryAfterSeconds;
  const waiting: HttpHeaders = retry === undefined ? {} : { 'Retry-After': String(retry) };
  return valueAnswer(error.code, errorForm(request), error.status, { ...headers, ...waiting });
}

/** What a bug looks like from outside: it says that there is one, not where. */
export function crashAnswer(request: HttpRequest): FullAnswer {
  return errorAnswer(request, internalError('the server met a condition that it did not expect'));
}

export function asApiError(error: unknown): ApiError | undefined {
  return error instanceof ApiError ? error : undefined;
}

/** Go's order of keys and its indentation; texts that YAML 1.1 would take for something else are quoted. */
const yamlOptions = { lineWidth: 80, sortMapEntries: true, version: '1.1', indentSeq: false } as const;

const newline = Buffer.from('\n');
