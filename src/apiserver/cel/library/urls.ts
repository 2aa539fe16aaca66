import { type ParsedUrl, parseUrl, queryOf, requestUriProblem } from '../../../kube/url.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { PlainList, PlainMap } from '../values/collections.ts';
import { CelError, type OpaqueValue, type Value } from '../values/values.ts';

/** URLs, parsed as Go's net/url does. */
export const urlLibrary: FunctionLibrary = {
  signatures: `
    .getEscapedPath url_get_escaped_path (kubernetes.URL) -> string
    .getHost url_get_host (kubernetes.URL) -> string
    .getHostname url_get_hostname (kubernetes.URL) -> string
    .getPort url_get_port (kubernetes.URL) -> string
    .getQuery url_get_query (kubernetes.URL) -> map(string, list(string))
    .getScheme url_get_scheme (kubernetes.URL) -> string
    isURL is_url_string (string) -> bool
    url string_to_url (string) -> kubernetes.URL
  `,
  implementations: {
    string_to_url: (text) => toUrl(text as string),
    is_url_string: (text) => requestUriProblem(text as string) === undefined,
    url_get_scheme: (url) => partsOf(url).scheme,
    url_get_host: (url) => partsOf(url).host,
    url_get_hostname: (url) => hostAndPort(partsOf(url).host).hostname,
    url_get_port: (url) => hostAndPort(partsOf(url).host).port,
    url_get_escaped_path: (url) => partsOf(url).escapedPath,
    url_get_query: (url) => {
      const entries = [...queryOf(partsOf(url).query)];
      return PlainMap.of(entries.map(([key, values]) => [key, new PlainList([...values])]));
    },
  },
};

class UrlValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'kubernetes.URL';
  readonly parts: ParsedUrl;
  readonly #text: string;

  constructor(text: string, parts: ParsedUrl) {
    this.#text = text;
    this.parts = parts;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && other.#text === this.#text;
  }

  toString(): string {
    return this.#text;
  }
}

function toUrl(text: string): Value {
  const problem = requestUriProblem(text);
  const parsed = problem === undefined ? parseUrl(text, false) : problem;
  if (typeof parsed === 'string') {
    return new CelError(`URL parse error during conversion from string: ${parsed}`);
  }
  return new UrlValue(text, parsed);
}

function partsOf(url: Value): ParsedUrl {
  return (url as UrlValue).parts;
}

function hostAndPort(host: string): { readonly hostname: string; readonly port: string } {
  const [, bracketed, plain = '', port = ''] = /^(?:\[(.*)\]|(.*?))(?::(\d*))?$/s.exec(host) ?? [];
  return { hostname: bracketed ?? plain, port };
}
