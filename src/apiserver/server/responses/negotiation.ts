import { type ApiError, failure } from '../../../kube/api-error.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';

/** The format of a response, chosen by the Accept header, the query and the user agent. */
export interface ResponseFormat {
  readonly media: 'json' | 'yaml';
  readonly isPretty: boolean;
  readonly shape: ResponseShape;
}

/** The object itself, a table for people, or only its metadata. */
export type ResponseShape =
  | { readonly kind: 'object' }
  | {
      readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
      readonly version: MetaVersion;
    };

export type MetaVersion = 'v1' | 'v1beta1';

export const objectShape: ResponseShape = { kind: 'object' };

export interface AllowedShapes {
  /** The shapes that the endpoint supports besides the object itself. */
  readonly shapes: 'all' | 'metadata' | 'none';
  readonly isStream?: boolean;
  /** Lists and watches share a path, so the router's 406 message names the media types of both. */
  readonly isCollection?: boolean;
}

/** Throws 406 if the endpoint supports no accepted media type. */
export function negotiate(request: IncomingRequest, allowed: AllowedShapes): ResponseFormat {
  const header = acceptHeader(request);
  // kube-apiserver's router checks first, with another message; it knows only exact types and `*/*`.
  if (header !== '' && !parseAccept(header).some(isKnownToRouter)) throw notAcceptableToRouter(allowed);
  const format = chooseFormat(request, allowed);
  if (format === undefined) throw notAcceptable(allowed);
  return format;
}

function chooseFormat(request: IncomingRequest, allowed: AllowedShapes): ResponseFormat | undefined {
  const header = acceptHeader(request);
  if (header === '') return plainFormat(request, 'json', false);
  for (const clause of parseAccept(header)) {
    for (const media of allowed.isStream ? streamMedia : responseMedia) {
      if (!matches(clause, media)) continue;
      const shape = shapeOf(clause, allowed);
      if (shape === undefined || !isStreamSupported(clause)) continue;
      return { ...plainFormat(request, media, clause.parameters.get('pretty') === '1'), shape };
    }
  }
  return undefined;
}

/** Errors are sent in an accepted media type, or else as pretty-printed JSON. */
export function errorFormat(request: IncomingRequest): ResponseFormat {
  return chooseFormat(request, { shapes: 'none' }) ?? { media: 'json', isPretty: true, shape: objectShape };
}

export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The clauses of an Accept header by preference. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses = header.split(',').map(parseClause);
  return clauses
    .filter((clause) => clause !== undefined)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

export function acceptHeader({ headers }: IncomingRequest): string {
  return headers.accept ?? '';
}

const responseMedia = ['json', 'yaml'] as const;
const streamMedia = ['json'] as const;

function parseClause(text: string): AcceptClause | undefined {
  const [range = '', ...parts] = text.trim().split(';');
  const [type = '', subtype, ...rest] = range.trim().split('/');
  if (rest.length > 0 || (subtype === undefined && type !== '*')) return undefined;
  const parameters = new Map<string, string>();
  for (const part of parts) {
    const [name = '', value, ...more] = part.split('=');
    if (value !== undefined && more.length === 0) parameters.set(name.trim(), value.trim());
  }
  const quality = parameters.has('q') ? Number(parameters.get('q')) || 0 : 1;
  return { type: type.trim(), subtype: (subtype ?? '*').trim(), quality, parameters };
}

function wildcards({ type, subtype }: AcceptClause): number {
  return (type === '*' ? 2 : 0) + (subtype === '*' ? 1 : 0);
}

function isKnownToRouter({ type, subtype }: AcceptClause): boolean {
  if (type === '*') return subtype === '*';
  return type === 'application' && ['json', 'yaml', 'vnd.kubernetes.protobuf'].includes(subtype);
}

function matches({ type, subtype }: AcceptClause, media: 'json' | 'yaml'): boolean {
  if (type === '*') return subtype === '*';
  return type === 'application' && (subtype === media || subtype === '*');
}

function shapeOf({ parameters }: AcceptClause, { shapes }: AllowedShapes): ResponseShape | undefined {
  const kind = parameters.get('as');
  const version = parameters.get('v');
  const group = parameters.get('g');
  if (kind === undefined && version === undefined && group === undefined) return objectShape;
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1') || shapes === 'none')
    return undefined;
  if (kind === 'Table') return shapes === 'all' ? { kind, version } : undefined;
  return kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList'
    ? { kind, version }
    : undefined;
}

function isStreamSupported({ parameters }: AcceptClause): boolean {
  const stream = parameters.get('stream') ?? '';
  return stream === '' || stream === 'watch';
}

function plainFormat(request: IncomingRequest, media: 'json' | 'yaml', isAsked: boolean): ResponseFormat {
  return { media, isPretty: isAsked || isPrettyByDefault(request), shape: objectShape };
}

/** Browsers, curl and wget get pretty-printed output unless the query says otherwise. */
function isPrettyByDefault({ query, headers }: IncomingRequest): boolean {
  const pretty = query.get('pretty') ?? '';
  if (pretty !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(pretty);
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '');
}

const responseTypes = ['application/json', 'application/yaml'];
const streamTypes = ['application/json;stream=watch'];

function notAcceptableToRouter({ isStream, isCollection }: AllowedShapes): ApiError {
  const types = isStream || isCollection ? [...responseTypes, ...streamTypes] : responseTypes;
  const message = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`;
  return failure(406, 'NotAcceptable', message, {});
}

function notAcceptable({ isStream }: AllowedShapes): ApiError {
  const types = isStream ? streamTypes : responseTypes;
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);
}
