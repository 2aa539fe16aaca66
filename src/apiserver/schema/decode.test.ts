import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../kube/api-error.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { decodeBody, type RequestBody } from './decode.ts';
import { goldenObjects } from './testing/golden.ts';

const pod = { group: '', version: 'v1', kind: 'Pod', type: 'core/v1.Pod' };
const deployment = { group: 'apps', version: 'v1', kind: 'Deployment', type: 'apps/v1.Deployment' };
const goFinder =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function decode(text: string | Buffer, options: Partial<RequestBody> = {}) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return decodeBody({
    bytes,
    contentType: 'application/json',
    expected: pod,
    fieldValidation: 'Warn',
    ...options,
  });
}

function refusal(text: string | Buffer, options: Partial<RequestBody> = {}): ApiError {
  try {
    decode(text, options);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('an object', () => {
  const yaml = 'kind: Pod\nmetadata:\n  name: a\nspec:\n  hostNetwork: yes\n  containers: []\n';
  const expected = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'a' },
    spec: { containers: [], hostNetwork: true },
    status: {},
  };

  test.each([
    ['JSON', 'application/json', '{"metadata":{"name":"a"},"spec":{"hostNetwork":true,"containers":[]}}'],
    ['JSON with a charset', 'Application/JSON; charset=utf-8', jsonText(expected)],
    ['a body without content type', undefined, jsonText(expected)],
    ['YAML', 'application/yaml', yaml],
    ['JSON sent as YAML', 'application/yaml', jsonText(expected)],
  ])('is decoded from %s', (_, contentType, text) => {
    const { object, warnings } = decode(text, { contentType });
    expect(jsonText(object)).toBe(jsonText(expected));
    expect(warnings).toEqual([]);
  });

  test.each(goldenObjects.filter(({ filled }) => filled === 'values'))(
    'comes from protobuf: $type',
    (golden) => {
      const { apiVersion, kind } = golden.json as { apiVersion: string; kind: string };
      const [version = '', group = ''] = apiVersion.split('/').reverse();
      const { object } = decode(Buffer.from(golden.protobuf, 'base64'), {
        contentType: 'application/vnd.kubernetes.protobuf',
        expected: { group, version, kind, type: golden.type },
      });
      expect(object).toEqual(golden.json);
    },
  );

  test('may omit what the request path says, or be null', () => {
    expect(decode('null').object).toMatchObject({ kind: 'Pod', apiVersion: 'v1' });
    expect(decode('{"kind":null}').object).toMatchObject({ kind: 'Pod', apiVersion: 'v1' });
  });

  test('may be options of any group', () => {
    const expected = { group: '', version: 'v1', kind: 'DeleteOptions', type: 'meta/v1.DeleteOptions' };
    const text = '{"kind":"DeleteOptions","apiVersion":"policy/v1","gracePeriodSeconds":0}';
    expect(decode(text, { expected }).object).toMatchObject({ gracePeriodSeconds: 0 });
  });
});

/** Recorded from a kube-apiserver 1.36. */
describe('a body is refused with the message of Kubernetes', () => {
  const unrecognized = 'the object provided is unrecognized (must be of type Pod): ';
  const parseError = `${unrecognized}couldn't get version/kind; json parse error: `;
  const handled = 'Pod in version "v1" cannot be handled as a Pod: ';
  const scheme = 'in scheme "pkg/runtime/scheme.go:111"';

  test.each([
    ['[]', `${parseError}json: cannot unmarshal array into Go value of type ${goFinder} (5b5d)`],
    ['"x"', `${parseError}json: cannot unmarshal string into Go value of type ${goFinder} (227822)`],
    ['5', `${parseError}json: cannot unmarshal number into Go value of type ${goFinder} (35)`],
    ['', `${parseError}unexpected end of JSON input (<empty>)`],
    ['{', `${parseError}unexpected end of JSON input ({)`],
    ['nul', `${parseError}invalid character ' ' in literal null (expecting 'l') (6e756c)`],
    [
      '{"kind":1}',
      `${parseError}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})`,
    ],
    [
      '{"apiVersion":"a/b/c"}',
      `${unrecognized}unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})`,
    ],
    [
      '{"kind":"Service","apiVersion":"v1"}',
      'Service in version "v1" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): unknown conversion',
    ],
    [
      '{"kind":"Deployment","apiVersion":"apps/v1"}',
      'Deployment in version "v1" cannot be handled as a Pod: converting (v1.Deployment) to (core.Pod): unknown conversion',
    ],
    [
      '{"kind":"Foo","apiVersion":"v1"}',
      `Foo in version "v1" cannot be handled as a Pod: no kind "Foo" is registered for version "v1" ${scheme}`,
    ],
    [
      '{"kind":"Pod","apiVersion":"apps/v1"}',
      `${handled}no kind "Pod" is registered for version "apps/v1" ${scheme}`,
    ],
    [
      '{"kind":"Pod","apiVersion":"core/v1"}',
      `${handled}no kind "Pod" is registered for version "core/v1" ${scheme}`,
    ],
    [
      '{"kind":"PodSpec","apiVersion":"v1"}',
      `PodSpec in version "v1" cannot be handled as a Pod: no kind "PodSpec" is registered for version "v1" ${scheme}`,
    ],
    [
      '{"kind":"Pod","apiVersion":"apps/"}',
      'Pod in version "" cannot be handled as a Pod: Object \'apiVersion\' is missing in \'{"kind":"Pod","apiVersion":"apps/"}\'',
    ],
    [
      '{"kind":"Pod","apiVersion":"v2"}',
      `Pod in version "v2" cannot be handled as a Pod: no kind "Pod" is registered for version "v2" ${scheme}`,
    ],
    [
      '{"kind":"Pod","spec":{"nodeName":1}}',
      `${handled}json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string`,
    ],
    [
      '{"metadata":1}',
      `${handled}json: cannot unmarshal number into Go struct field Pod.metadata of type v1.ObjectMeta`,
    ],
  ])('%s', (text, message) => {
    const error = refusal(text);
    expect(error.message).toBe(message);
    expect(error.code).toBe(400);
    expect(error.reason).toBe('BadRequest');
  });

  test('if it belongs to another group version of the same kind', () => {
    const expected = { group: '', version: 'v1', kind: 'Event', type: 'core/v1.Event' };
    expect(refusal('{"kind":"Event","apiVersion":"events.k8s.io/v1"}', { expected }).message).toBe(
      'the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)',
    );
  });

  test('if it is of the core group by mistake', () => {
    expect(refusal('{"kind":"Deployment","apiVersion":"v1"}', { expected: deployment }).message).toBe(
      `Deployment in version "v1" cannot be handled as a Deployment: no kind "Deployment" is registered for version "v1" ${scheme}`,
    );
  });

  test('if its media type is unknown', () => {
    const error = refusal('{}', { contentType: 'text/plain' });
    expect(error.code).toBe(415);
    expect(error.reason).toBe('UnsupportedMediaType');
    expect(error.message).toBe(
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  test.each([
    [
      '{}',
      `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})`,
    ],
    ['k8s\0\x12\x02\x0a\x05', `${handled}unexpected EOF`],
    [
      'k8s\0\x0a\x0c\x0a\x02v1\x12\x06Secret',
      'Secret in version "v1" cannot be handled as a Pod: converting (v1.Secret) to (core.Pod): unknown conversion',
    ],
  ])('if protobuf is broken or something else: %j', (text, message) => {
    expect(refusal(text, { contentType: 'application/vnd.kubernetes.protobuf' }).message).toBe(message);
  });

  test.each([
    ['? {a: b}\n: c\n', 'map[interface {}]interface {}{"a":"b"} (3f207b613a20627d0a3a20630a)'],
    ['? [a, 1]\n: c\n', '[]interface {}{"a", 1} (3f205b612c20315d0a3a20630a)'],
    ['? [a, [b]]\n: c\n', '[]interface {}{"a", []interface {}{"b"}} (3f205b612c205b625d5d0a3a20630a)'],
    ['a: &k [1]\nb:\n  ? *k\n  : c\n', expect.stringContaining('[]interface {}{1}')],
  ])('if YAML has a key that is not a text: %j', (text, expected) => {
    const { message } = refusal(text, { contentType: 'application/yaml' });
    const start = 'the object provided is unrecognized (must be of type Pod): yaml: invalid map key: ';
    expect([message.slice(0, start.length), message.slice(start.length)]).toEqual([start, expected]);
  });

  test('if YAML is broken', () => {
    expect(refusal('a: [', { contentType: 'application/yaml' }).message).toMatch(
      /^the object provided is unrecognized \(must be of type Pod\): yaml: line 1: .* \(613a205b\)$/,
    );
    expect(refusal('abc', { contentType: 'application/yaml' }).message).toBe(
      `${parseError}json: cannot unmarshal string into Go value of type ${goFinder} (616263)`,
    );
  });
});

/** Recorded from a kube-apiserver 1.36. */
describe('unknown and duplicate fields', () => {
  const text =
    '{"kind":"Pod","apiVersion":"v1","spec":{"foo":1,"containers":[{"name":"a","b":1,"name":"c"}],"nodeName":"x","nodeName":"y"},"metadata":{"labels":{"a":"b","a":"c"}},"zzz":{"a":1,"a":2}}';
  const problems = [
    'unknown field "spec.foo"',
    'unknown field "spec.containers[0].b"',
    'duplicate field "spec.containers[0].name"',
    'duplicate field "spec.nodeName"',
    'duplicate field "metadata.labels.a"',
    'unknown field "zzz"',
  ];
  const yaml = 'kind: Pod\nspec:\n  foo: 1\n  nodeName: a\n  nodeName: b\n';
  const handled = 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: ';

  test('are refused when validation is strict', () => {
    expect(refusal(text, { fieldValidation: 'Strict' }).message).toBe(`${handled}${problems.join(', ')}`);
  });

  test('are reported as warnings and dropped when validation warns', () => {
    const { object, warnings } = decode(text);
    expect(warnings).toEqual(problems);
    expect(object).toMatchObject({ spec: { nodeName: 'y', containers: [{ name: 'c' }] } });
  });

  test('are not reported when validation ignores them', () => {
    expect(decode(text, { fieldValidation: 'Ignore' }).warnings).toEqual([]);
  });

  test('are reported with their lines if the body is YAML', () => {
    const contentType = 'application/yaml';
    expect(decode(yaml, { contentType }).warnings).toEqual([
      'line 5: key "nodeName" already set in map',
      'unknown field "spec.foo"',
    ]);
    expect(refusal(yaml, { contentType, fieldValidation: 'Strict' }).message).toBe(
      `${handled}yaml: unmarshal errors:\n  line 5: key "nodeName" already set in map, unknown field "spec.foo"`,
    );
  });
});

test.each(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'])(
  'any bytes sent as %s become an object or an error',
  (contentType) => {
    const magic = contentType.endsWith('protobuf') ? 'k8s\0' : '';
    const anyText = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom(...'{}[]",: &*-|>#!%@\n\t\u0001\x1aab1') }),
    );
    fc.assert(
      fc.property(fc.oneof(anyText, fc.uint8Array()), (body) => {
        const bytes = Buffer.concat([Buffer.from(magic), Buffer.from(body as string)]);
        try {
          decode(bytes, { contentType });
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
      { numRuns: 300 },
    );
  },
);

test.each([
  [
    'aliases that unfold without end',
    'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]',
  ],
  ['brackets without end', '['.repeat(100_000)],
])('YAML with %s is refused', (_, text) => {
  expect(refusal(text, { contentType: 'application/yaml' }).code).toBe(400);
});

test('YAML is read as Kubernetes reads it', () => {
  const text =
    'metadata:\n  labels: {a: "1", b: "yes"}\n  creationTimestamp: 2026-01-01T00:00:00Z\n  generation: 0x10\nspec:\n  volumes:\n  - name: s\n    secret: {defaultMode: 0644}\n';
  expect(decode(text, { contentType: 'application/yaml' }).object).toMatchObject({
    metadata: { labels: { a: '1', b: 'yes' }, creationTimestamp: '2026-01-01T00:00:00Z', generation: 16 },
    spec: { volumes: [{ secret: { defaultMode: 420 } }] },
  });
});
