/** A sequence of requests to a server, in a namespace of its own. */
export interface Scenario {
  /** A sentence; it is also the name of the test, and the namespace is derived from it. */
  readonly name: string;
  readonly steps: readonly Step[];
}

/**
 * One request. Strings may contain placeholders: `{{ns}}` is the namespace of the scenario, `{{pod.metadata.uid}}` a field of the answer to
 * the step named `pod`. A string that consists of one placeholder becomes the value itself, of any type.
 */
export interface Step {
  /** The name by which placeholders of later steps refer to the answer. */
  readonly as?: string;
  readonly method: Method;
  /** Includes the query. */
  readonly path: string;
  readonly accept?: string;
  /** Content-Type; if there is a body, the default is JSON. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent unchanged. With `from`, it is a merge patch of the answer to that step. */
  readonly body?: unknown;
  readonly from?: string;
  /** The body, if it is not text. */
  readonly base64?: string;
  /** The real server decides by its caches: waits until they have observed the previous steps. */
  readonly settle?: boolean;
  /** Repeats the request until the answer contains this text or a time limit passes, for what a server does in the background. */
  readonly until?: string;
  /** Which part of the answer is compared; everything by default. */
  readonly form?: Form;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'TRACE';

/**
 * `discovery` and `openapi` documents are compared by name, and only for the kinds that should be served. `keys` compares only the fields
 * of an answer, because their values differ between servers. `metadata` omits the rest of an object, which neighbouring steps show in full;
 * errors are always compared completely.
 */
export type Form = 'everything' | 'metadata' | 'discovery' | 'openapi' | 'keys';

/** The response of a server after masking. */
export interface Answer {
  readonly status: number;
  /** Only relevant headers, and Content-Type only if it is not plain JSON. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
}

type Options = Omit<Step, 'method' | 'path'>;

export function get(path: string, options: Options = {}): Step {
  return { method: 'GET', path, ...options };
}

export function post(path: string, body: unknown, options: Options = {}): Step {
  return { method: 'POST', path, body, ...options };
}

export function put(path: string, body: unknown, options: Options = {}): Step {
  return { method: 'PUT', path, body, ...options };
}

export function del(path: string, body?: unknown, options: Options = {}): Step {
  return { method: 'DELETE', path, ...(body === undefined ? {} : { body }), ...options };
}

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export function patch(
  type: keyof typeof patchTypes,
  path: string,
  body: unknown,
  options: Options = {},
): Step {
  return { method: 'PATCH', path, type: patchTypes[type], body, ...options };
}

export const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
export const asMetadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
export const asMetadataList =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

export function scenario(name: string, ...steps: readonly (Step | readonly Step[])[]): Scenario {
  return { name, steps: steps.flat() };
}
