import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../kube/api-error.ts';
import { wantsAggregated } from '../discovery/aggregated.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { Warnings } from '../http/warnings.ts';
import { type AllowedShapes, errorFormat, negotiate, parseAccept } from './negotiation.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const protobuf = 'application/vnd.kubernetes.protobuf';
const onlyThese = 'only the following media types are accepted: application/json, application/yaml';
const available = '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml';

describe('an Accept header', () => {
  test.each([
    ['', 'json object'],
    ['*/*', 'json object'],
    ['application/json', 'json object'],
    ['application/json;charset=utf-8', 'json object'],
    ['application/json;q=0.1, application/yaml;q=0.9', 'yaml object'],
    ['application/yaml', 'yaml object'],
    ['application/json;pretty=1', 'json object pretty'],
    [`${protobuf},application/json`, 'json object'],
    [`${protobuf}, */*`, 'json object'],
    [`${table},application/json`, 'json Table v1'],
    [`application/json;as=Table;v=v1beta1;g=meta.k8s.io`, 'json Table v1beta1'],
    [`application/json;q=0.5,${table}`, 'json Table v1'],
    [`application/json,${table}`, 'json object'],
    [`${partial},application/json`, 'json PartialObjectMetadata v1'],
    ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json object'],
    ['application/json;stream=watch', 'json object'],
    [protobuf, onlyThese],
    ['application/json;as=Foo;v=v1;g=meta.k8s.io', onlyThese],
    ['application/json;as=Table;v=v2;g=meta.k8s.io', onlyThese],
    ['application/json;as=Table;v=v1;g=apps', onlyThese],
    ['text/html', available],
    ['application/*', available],
    ['application/cbor', available],
    ['nonsense', available],
    [';;;,,,', available],
  ])('%s gives %s', (accept, expected) => {
    expect(given(request(accept), { shapes: 'all' })).toBe(expected);
  });

  test.each([
    [table, { shapes: 'none' }, onlyThese],
    [partial, { shapes: 'none' }, onlyThese],
    [table, { shapes: 'metadata' }, onlyThese],
    [partial, { shapes: 'metadata' }, 'json PartialObjectMetadata v1'],
    [
      'application/yaml',
      { shapes: 'all', isStream: true },
      'only the following media types are accepted: application/json;stream=watch',
    ],
    ['text/html', { shapes: 'all', isCollection: true }, `${available}, application/json;stream=watch`],
  ] as const)('%s where %j gives %s', (accept, allowed, expected) => {
    expect(given(request(accept), allowed)).toBe(expected);
  });

  test.each([
    [table, 'json pretty'],
    ['text/html', 'json pretty'],
    [`${table},application/json`, 'json'],
    ['application/yaml', 'yaml'],
    ['application/*', 'json'],
  ])('%s has errors sent as %s', (accept, expected) => {
    const { media, isPretty } = errorFormat(request(accept));
    expect(isPretty ? `${media} pretty` : media).toBe(expected);
  });

  test('sorts by quality, then exact types before wildcards', () => {
    const clauses = parseAccept('*/*, text/*, a/b;q=0.5, application/json, c/d;q=oops');
    expect(clauses.map(({ type, subtype }) => `${type}/${subtype}`)).toEqual([
      'application/json',
      'text/*',
      '*/*',
      'a/b',
      'c/d',
    ]);
  });
});

describe('line breaks', () => {
  test.each([
    ['', 'curl/8.0', true],
    ['', 'Mozilla/5.0 (X11)', true],
    ['', 'kubectl/v1.36.3', false],
    ['pretty=true', 'kubectl/v1', true],
    ['pretty=0', 'curl/8.0', false],
    ['pretty=maybe', 'curl/8.0', false],
    ['pretty=', 'curl/8.0', true],
  ])('with ?%s for %s: %s', (query, userAgent, expected) => {
    const asked = { ...request(''), query: new URLSearchParams(query), headers: { 'user-agent': userAgent } };
    expect(negotiate(asked, { shapes: 'all' }).isPretty).toBe(expected);
  });
});

describe('aggregated discovery', () => {
  const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const beta = v2.replace('v=v2', 'v=v2beta1');
  test.each([
    [`${v2},${beta},application/json`, true],
    [`${v2};profile=nopeer`, true],
    [`${beta},application/json`, false],
    ['application/json', false],
    [`application/json,${v2}`, false],
    ['', false],
    [protobuf, false],
  ])('is requested by %s: %s', (accept, expected) => {
    expect(wantsAggregated(request(accept))).toBe(expected);
  });
});

function request(accept: string): IncomingRequest {
  return {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: accept === '' ? {} : { accept },
    headerValues: {},
    warnings: new Warnings(),
    closed: new AbortController().signal,
    body: () => Promise.resolve(Buffer.alloc(0)),
  };
}

function given(asked: IncomingRequest, allowed: AllowedShapes): string {
  try {
    const { media, isPretty, shape } = negotiate(asked, allowed);
    const version = shape.kind === 'object' ? '' : ` ${shape.version}`;
    return `${media} ${shape.kind}${version}${isPretty ? ' pretty' : ''}`;
  } catch (error) {
    if (error instanceof ApiError && error.code === 406) return error.message;
    throw error;
  }
}
