import { type ApiError, failure } from '../../../kube/api-error.ts';
import type { HttpRequest } from '../http/http-exchange.ts';

/** In which form an answer is wanted, as the Accept header, the query and the program say. */
export interface OutputForm {
  readonly media: 'json' | 'yaml';
  readonly isPretty: boolean;
  readonly shape: Shape;
}

/** The object itself, rows for people, or only its metadata. */
export type Shape =
  | { readonly kind: 'object' }
  | {
      readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
      readonly version: MetaVersion;
    };

export type MetaVersion = 'v1' | 'v1beta1';

export const objectShape: Shape = { kind: 'object' };

export interface Allowed {
  /** Which shapes the endpoint can give besides the object itself. */
  readonly shapes: 'all' | 'metadata' | 'none';
  readonly isStream?: boolean;
  /** Lists and watches share a path, and with it what the router says that there is. */
  readonly isCollection?: boolean;
}

/** Throws 406 where nothing that is accepted can be given. */
export function negotiate(request: HttpRequest, allowed: Allowed): OutputForm {
  const header = acceptHeader(request);
  // First the check of the real server's router, which knows exact types and `*/*` only; its words differ.
  if (header !== '' && !parseAccept(header).some(isKnownToRouter)) throw unavailable(allowed);
  const form = chosen(request, allowed);
  if (form === undefined) throw notAcceptable(allowed);
  return form;
}

function chosen(request: HttpRequest, allowed: Allowed): OutputForm | undefined {
  const header = acceptHeader(request);
  if (header === '') return plainForm(request, 'json', false);
  for (const clause of parseAccept(header)) {
    for (const media of allowed.isStream ? streamMedia : answerMedia) {
      if (!matches(clause, media)) continue;
      const shape = shapeOf(clause, allowed);
      if (shape === undefined || !isStreamKnown(clause)) continue;
      return { ...plainForm(request, media, clause.parameters.get('pretty') === '1'), shape };
    }
  }
  return undefined;
}

/** Errors are sent as they are, in the accepted language; where there is none, in JSON for people. */
export function errorForm(request: HttpRequest): OutputForm {
  return chosen(request, { shapes: 'none' }) ?? { media: 'json', isPretty: true, shape: objectShape };
}

export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The clauses of an Accept header, the most wanted first. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses = header.split(',').map(parseClause);
  return clauses
    .filter((clause) => clause !== undefined)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

export function acceptHeader({ headers }: HttpRequest): string {
  return headers.accept ?? '';
}

const answerMedia = ['json', 'yaml'] as const;
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

function shapeOf({ parameters }: AcceptClause, { shapes }: Allowed): Shape | undefined {
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

function isStreamKnown({ parameters }: AcceptClause): boolean {
  const stream = parameters.get('stream') ?? '';
  return stream === '' || stream === 'watch';
}

function plainForm(request: HttpRequest, media: 'json' | 'yaml', isAsked: boolean): OutputForm {
  return { media, isPretty: isAsked || isForPeople(request), shape: objectShape };
}

/** Browsers and the programs that people type are given line breaks, unless they say otherwise. */
function isForPeople({ query, headers }: HttpRequest): boolean {
  const pretty = query.get('pretty') ?? '';
  if (pretty !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(pretty);
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '');
}

const answerTypes = ['application/json', 'application/yaml'];
const streamTypes = ['application/json;stream=watch'];

function unavailable({ isStream, isCollection }: Allowed): ApiError {
  const types = isStream || isCollection ? [...answerTypes, ...streamTypes] : answerTypes;
  const message = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`;
  return failure(406, 'NotAcceptable', message, {});
}

function notAcceptable({ isStream }: Allowed): ApiError {
  const types = isStream ? streamTypes : answerTypes;
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);
}
