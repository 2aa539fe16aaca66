import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactedObject } from './redact-object.ts';
import { redactedText } from './redact-text.ts';
import { shortPod } from './short-forms.ts';

/** A secret that can't occur by accident: a marker in characters that passwords and tokens have. */
const secret = fc.stringMatching(/^[A-Za-z0-9]{4,12}$/).map((text) => `${text}XxMarkerxX${text}`);
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const marker = /XxMarkerxX/i;

/** Texts in which people and programs write secrets. */
const leakyText = fc.oneof(
  fc.tuple(word, secret).map(([user, value]) => `cannot fetch https://${user}:${value}@host/image.img: 403`),
  secret.map((value) => `GET https://host/path?X-Amz-Signature=${value}&a=b failed`),
  secret.map((value) => `Authorization: Bearer ${value}`),
  secret.map((value) => `retrying with header "Authorization: Basic ${value}"`),
  secret.map((value) => `eyJhbGciOiJSUzI1NiJ9.${value}.${value}`),
  secret.map((value) => `-----BEGIN RSA PRIVATE KEY-----\n${value}\n${value}\n-----END RSA PRIVATE KEY-----`),
  fc
    .tuple(
      fc.constantFrom(
        'password',
        'DB_PASSWORD',
        'token',
        'client_secret',
        'apiKey',
        'aws-access-key',
        'passphrase',
      ),
      fc.constantFrom('=', ': ', ' = ', '":"', '": "'),
      secret,
    )
    .map(([key, is, value]) =>
      is.includes('"') ? `{"${key}${is}${value}"}` : `started with ${key}${is}${value}, going on`,
    ),
  secret.map((value) => `--token=${value} --verbose`),
);

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const metadata = fc.record({
  name: word,
  namespace: word,
  annotations: fc.record({
    'kubectl.kubernetes.io/last-applied-configuration': secret.map((value) =>
      JSON.stringify({ password: value }),
    ),
    'example.com/anything': secret,
    'stowage.dev/measured-at': fc.constant('2026-01-01T00:00:00Z'),
  }),
  managedFields: fc.array(fc.record({ manager: word, fieldsV1: secret }), { maxLength: 2 }),
});

const container = fc.record({
  name: word,
  image: secret.map((value) => `https://user:${value}@registry/image:1`),
  env: fc.array(fc.record({ name: word, value: secret }), { maxLength: 2 }),
  args: fc.array(secret, { maxLength: 2 }),
  command: fc.array(secret, { maxLength: 2 }),
  livenessProbe: fc.record({
    httpGet: fc.record({ httpHeaders: fc.array(fc.record({ name: word, value: secret })) }),
  }),
});

const volume = fc.record(
  {
    name: word,
    csi: fc.record({
      driver: fc.constant('other.example.com'),
      volumeAttributes: fc.dictionary(word, secret),
    }),
    flexVolume: fc.record({ driver: word, options: fc.dictionary(word, secret) }),
    secret: fc.record({ secretName: word, items: fc.array(fc.record({ key: secret })) }),
    configMap: fc.record({ name: secret }),
  },
  { requiredKeys: ['name'] },
);

const pod = fc.record({
  metadata,
  spec: fc.record({
    containers: fc.array(container, { minLength: 1, maxLength: 2 }),
    volumes: fc.array(volume, { maxLength: 3 }),
    hostname: secret,
  }),
  status: fc.record({
    message: leakyText,
    containerStatuses: fc.array(
      fc.record({ name: word, state: fc.record({ waiting: fc.record({ message: leakyText }) }) }),
      { maxLength: 1 },
    ),
  }),
});

const others = fc.record({
  metadata,
  provisioner: fc.constant('other.example.com'),
  parameters: fc.dictionary(word, secret),
  spec: fc.record({
    password: maybe(secret),
    nested: fc.record({
      deeper: fc.array(fc.record({ clientSecret: secret, userTokens: fc.array(secret) })),
    }),
    csi: fc.record({
      driver: fc.constant('other.example.com'),
      volumeAttributes: fc.dictionary(word, secret),
    }),
    source: fc.record({ url: secret.map((value) => `https://a:${value}@host/x?sig=${value}`) }),
    data: fc.dictionary(word, secret),
    env: fc.array(fc.record({ name: word, value: secret })),
  }),
  note: leakyText,
});

describe('nothing secret', () => {
  test('stays in a pod', () => {
    fc.assert(
      fc.property(pod, (object) => {
        expect(JSON.stringify(redactedObject(shortPod(object)))).not.toMatch(marker);
      }),
      { numRuns: 60 },
    );
  });

  test('stays in other objects and lists of them', () => {
    fc.assert(
      fc.property(others, (object) => {
        expect(JSON.stringify(redactedObject({ kind: 'List', items: [object] }))).not.toMatch(marker);
      }),
      { numRuns: 60 },
    );
  });

  test('stays in logs and messages, wherever it stands', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(leakyText, fc.lorem()), { minLength: 1, maxLength: 6 }), (lines) => {
        expect(redactedText(lines.join('\n'))).not.toMatch(marker);
      }),
      { numRuns: 150 },
    );
  });
});

describe('what is needed', () => {
  test('stays: names, versions, numbers, addresses, our own annotations and settings', () => {
    const volume = {
      metadata: { name: 'pv', annotations: { 'stowage.dev/pool': 'storage/a' }, finalizers: ['x/y'] },
      spec: {
        capacity: { storage: '10Gi' },
        csi: {
          driver: 'drives.stowage.dev',
          volumeHandle: 'pvc-0d4f2a30-7f5c-4a5b-9d6e-0a3b8f1c6d21',
          volumeAttributes: { 'stowage.dev/drive': 'n1-b7f6c1de' },
          nodePublishSecretRef: { name: 'by-name', namespace: 'shop' },
        },
      },
    };
    expect(redactedObject(volume)).toEqual(volume);
    const messages = [
      '0/3 nodes are available: 1 node(s) had untolerated taint {team: infra}.',
      'dial tcp 10.0.0.1:6443: connect: connection refused',
      'stowage_api_requests_total{verb="list",resource="pods",code="200"} 12',
      'GET https://10.0.0.1:6443/api/v1/pods took 12 ms',
    ];
    for (const message of messages) expect(redactedText(message)).toBe(message);
  });

  test('of settings of other drivers stays which there are', () => {
    const made = redactedObject({
      provisioner: 'x',
      parameters: { restuserkey: 'abc', 'csi.storage.k8s.io/fstype': 'xfs' },
    });
    expect(made).toEqual({
      provisioner: 'x',
      parameters: { restuserkey: '(removed)', 'csi.storage.k8s.io/fstype': 'xfs' },
    });
  });
});

/** A pattern that begins again at every character needs more than ten seconds for each of these texts. */
test.each([
  ['a long word', 'a'.repeat(400_000)],
  ['words with dots', 'a.b-'.repeat(100_000)],
  ['slashes of addresses', 'a://'.repeat(100_000)],
  ['beginnings of tokens', 'eyJa-'.repeat(100_000)],
])('%s without a secret is read once', (_what, text) => {
  expect(redactedText(text)).toBe(text);
});

test.each([
  ['9https://u:p@h/a?sig=1', '9https://(removed)@h/a?(removed)'],
  ['https://a/https://b?sig=1', 'https://a/https://b?(removed)'],
  ['x-eyJhbGciOi.eyJzdWIi.sig', 'x-(removed)'],
  ['my.app-token_password=p', 'my.app-token_password=(removed)'],
])('%s', (text, expected) => {
  expect(redactedText(text)).toBe(expected);
});
