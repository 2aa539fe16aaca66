/** A conversation with a server: steps that follow on each other, in a namespace of their own. */
export interface Scenario {
  /** A sentence; it is also the name of the test. */
  readonly name: string;
  readonly steps: readonly Step[];
}

/**
 * One request. Strings in it may hold placeholders: `{{ns}}` is the namespace of the scenario, `{{pod.metadata.uid}}` a field of what
 * the step named `pod` was answered. A string that is nothing but a placeholder becomes the value itself, of whatever type.
 */
export interface Step {
  /** For placeholders of later steps. */
  readonly as?: string;
  readonly method: Method;
  /** With its query. */
  readonly path: string;
  readonly accept?: string;
  /** Content-Type; JSON where there is a body and nothing is said. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; text goes as it is. With `from`, a merge patch of what that step was answered. */
  readonly body?: unknown;
  readonly from?: string;
  /** Bytes that are not text. */
  readonly base64?: string;
  /** The real server decides on what its caches say: give them time to hear of the steps before. */
  readonly settle?: boolean;
  /** Asked again until the answer holds this text, or a while has passed: what a server does by and by. */
  readonly until?: string;
  /** What of the answer is compared; everything by default. */
  readonly form?: Form;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'TRACE';

/**
 * `discovery` and `openapi` documents are compared by name, and only what concerns the kinds that are meant to be served.
 * `keys` are the fields of an answer whose values are a server's own affair. `metadata` leaves out the rest of an object, which steps
 * around it show in full; errors are always compared as they are.
 */
export type Form = 'everything' | 'metadata' | 'discovery' | 'openapi' | 'keys';

/** What a server said, made comparable. */
export interface Answer {
  readonly status: number;
  /** Those that matter, and Content-Type only where it is not plain JSON. */
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
