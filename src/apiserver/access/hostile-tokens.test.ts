import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessFixture, foreignKey, forgeToken, tokenParts } from './testing/access-fixture.ts';

let fixture: AccessFixture;
let good = '';

beforeAll(async () => {
  fixture = await AccessFixture.start();
  good = await fixture.token('robot');
  await fixture.allow('robot', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] });
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function statusWith(token: string): Promise<number> {
  return (await fixture.as(token, 'GET', '/api/v1/namespaces/default/secrets')).status;
}

function later(seconds: number): object {
  const { claims } = tokenParts(good);
  const moved = ['exp', 'iat', 'nbf'].map((name) => [name, (claims[name] as number) + seconds]);
  return { ...claims, ...Object.fromEntries(moved) };
}

/** Claims that the server itself would sign. */
function signed(claims: object): string {
  return forgeToken(tokenParts(good).header, claims, fixture.cluster.credentials.tokenKey);
}

test('a valid token is accepted', async () => {
  expect(await statusWith(good)).toBe(200);
  expect(await statusWith(signed(tokenParts(good).claims))).toBe(200);
});

describe('a token is refused', () => {
  const foreign = foreignKey();
  test.each<[string, () => string]>([
    ['without an algorithm', () => forgeToken({ alg: 'none' }, tokenParts(good).claims)],
    [
      'that says so of our key',
      () => forgeToken({ ...tokenParts(good).header, alg: 'none' }, tokenParts(good).claims),
    ],
    ['without its signature', () => good.replace(/[^.]*$/, '')],
    ['with an empty signature', () => good.replace(/[^.]*$/, 'AA')],
    [
      'of another key',
      () => forgeToken({ alg: 'ES256', kid: foreign.id }, tokenParts(good).claims, foreign.pem),
    ],
    [
      'of another key under our name',
      () => forgeToken(tokenParts(good).header, tokenParts(good).claims, foreign.pem),
    ],
    ['with the signature of another', () => `${signed(later(9)).replace(/[^.]*$/, '')}${good.split('.')[2]}`],
    ['signed with the public key as a secret', () => withPublicSecret()],
    [
      'that asks for what we do not know',
      () =>
        forgeToken(
          { ...tokenParts(good).header, crit: ['exp'] },
          tokenParts(good).claims,
          fixture.cluster.credentials.tokenKey,
        ),
    ],
    ['that has expired', () => signed(later(-2 * 3600))],
    ['that is not valid yet', () => signed(later(3600))],
    ['of another issuer', () => signed({ ...tokenParts(good).claims, iss: 'https://elsewhere.example' })],
    [
      'for another audience',
      () => signed({ ...tokenParts(good).claims, aud: ['https://elsewhere.example'] }),
    ],
    ['without an audience', () => signed({ ...tokenParts(good).claims, aud: [] })],
    [
      'for us in the wrong form',
      () => signed({ ...tokenParts(good).claims, aud: 'https://kubernetes.default.svc' }),
    ],
    ['without an account', () => signed({ ...tokenParts(good).claims, 'kubernetes.io': undefined })],
    ['without an expiry', () => signed({ ...tokenParts(good).claims, exp: undefined })],
    ['that is not JSON', () => 'eyJh.eyJh.eyJh'],
    ['in four parts', () => `${good}.${good.split('.')[2]}`],
    ['with a trailing character', () => `${good}=`],
    ['that is too long', () => `${good}${'A'.repeat(20_000)}`],
  ])('%s', async (_, make) => {
    expect(await statusWith(make())).toBe(401);
  });

  /** The attack on libraries that trust the token's algorithm: the public key used as an HMAC secret. */
  function withPublicSecret(): string {
    const { kid } = tokenParts(good).header;
    const body = forgeToken({ alg: 'HS256', kid }, tokenParts(good).claims).slice(0, -1);
    const secret = createHmac('sha256', JSON.stringify(kid)).update(body).digest('base64url');
    return `${body}.${secret}`;
  }
});

describe('a token becomes invalid with', () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';

  test('its account, at once, also if an account of the same name is created', async () => {
    const token = await fixture.token('brief');
    expect((await fixture.as(token, 'GET', '/api')).status).toBe(200);
    await fixture.admin('DELETE', `${accounts}/brief`);
    expect((await fixture.as(token, 'GET', '/api')).status).toBe(401);
    const second = await fixture.token('brief');
    expect((await fixture.as(token, 'GET', '/api')).status).toBe(401);
    expect((await fixture.as(second, 'GET', '/api')).status).toBe(200);
  });

  test.each([
    ['Secret', 'secrets', {}],
    ['Pod', 'pods', { spec: { serviceAccountName: 'bound', containers: [{ name: 'c', image: 'i' }] } }],
  ])('the %s that it is bound to', async (kind, plural, body) => {
    const name = kind.toLowerCase();
    const objects = `/api/v1/namespaces/default/${plural}`;
    await fixture.admin('POST', objects, { metadata: { name }, ...body });
    const boundObjectRef = { kind, apiVersion: 'v1', name };
    const token = await fixture.token('bound', { boundObjectRef });
    expect((await fixture.as(token, 'GET', '/api')).status).toBe(200);
    await fixture.admin('DELETE', `${objects}/${name}`, { gracePeriodSeconds: 0 });
    expect((await fixture.as(token, 'GET', '/api')).status).toBe(401);
    await fixture.admin('POST', objects, { metadata: { name }, ...body });
    expect((await fixture.as(token, 'GET', '/api')).status).toBe(401);
  });

  test('the node that it is bound to', async () => {
    await fixture.admin('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    const token = await fixture.token('bound', {
      boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n1' },
    });
    const self = await fixture.as(token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body: {},
    });
    expect(self.json()).toMatchObject({
      status: { userInfo: { extra: { 'authentication.kubernetes.io/node-name': ['n1'] } } },
    });
    await fixture.admin('DELETE', '/api/v1/nodes/n1');
    expect((await fixture.as(token, 'GET', '/api')).status).toBe(401);
  });
});
