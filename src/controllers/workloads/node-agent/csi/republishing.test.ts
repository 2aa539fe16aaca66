import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../../csi/csi-errors.ts';
import type { CsiRequest } from '../../../../csi/csi-methods.ts';
import type { TokenRequestSpec } from '../../../../kube/api/authentication.ts';
import type { CSIDriverSpec } from '../../../../kube/api/storage.ts';
import { pods } from '../../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { getPod, makeNode, namespace, phases } from '../testing/agent-fixture.ts';
import { makeCsiDriver, makeInlinePod, PluginFixture } from './testing/plugin-fixture.ts';
import type { RequestToken } from './volume-tokens.ts';

const key = 'csi.storage.k8s.io/serviceAccount.tokens';
const ephemeral = { volumeLifecycleModes: ['Ephemeral'] } as const;

interface Issued extends TokenRequestSpec {
  readonly account: string;
}

/** A pod `web` with an inline volume, and an API server whose tokens last 100 minutes. */
async function start(spec: CSIDriverSpec) {
  const plugin = await PluginFixture.start();
  const issued: Issued[] = [];
  const fixture = await VirtualTimeCluster.start();
  const requestToken: RequestToken = async (account, request) => {
    issued.push({ ...request, account: `${account.namespace}/${account.name}` });
    const expirationTimestamp = new Date(fixture.clock.nowMs() + 6000_000).toISOString();
    return { token: `token-${issued.length}`, expirationTimestamp };
  };
  const run = () => fixture.run([plugin.agent({ requestToken })]);
  const first = run();
  await makeCsiDriver(fixture, { ...ephemeral, ...spec });
  await makeNode(fixture, 'n1');
  await makeInlinePod(fixture, 'web');
  await fixture.settle();
  const publishes = () => plugin.driver.callsOf('NodePublishVolume') as CsiRequest<'NodePublishVolume'>[];
  const tokens = () =>
    publishes().map(({ volumeContext }) => {
      const byAudience = JSON.parse(volumeContext[key] ?? '{}') as Record<string, { token: string }>;
      return Object.entries(byAudience).map(([audience, { token }]) => `${audience}: ${token}`);
    });
  return { plugin, fixture, issued, publishes, tokens, first, run };
}

test('a driver gets the tokens of the pod that it asks for, by audience', async () => {
  const tokenRequests = [{ audience: 'vault', expirationSeconds: 6000n }, { audience: '' }];
  const { fixture, issued, tokens, publishes } = await start({ tokenRequests });
  await using _ = fixture;
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(tokens()).toEqual([['vault: token-1', ': token-2']]);
  const { uid } = (await getPod(fixture, 'web')).metadata ?? {};
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid };
  const account = `${namespace}/default`;
  expect(issued).toEqual([
    { account, audiences: ['vault'], expirationSeconds: 6000n, boundObjectRef },
    { account, audiences: [], boundObjectRef },
  ]);
  expect(JSON.parse(publishes()[0]?.volumeContext[key] ?? '')).toMatchObject({
    vault: { token: 'token-1', expirationTimestamp: expect.any(String) },
  });
});

test('tokens are in the secrets if the driver says so', async () => {
  const spec = { tokenRequests: [{ audience: 'vault' }], serviceAccountTokenInSecrets: true };
  const { fixture, publishes } = await start(spec);
  await using _ = fixture;
  const [{ secrets, volumeContext } = { secrets: {}, volumeContext: {} }] = publishes();
  expect(Object.keys(secrets)).toEqual([key]);
  expect(volumeContext).toEqual({});
});

test('without requiresRepublish a volume is published once', async () => {
  const { fixture, publishes } = await start({ tokenRequests: [{ audience: 'vault' }] });
  await using _ = fixture;
  await fixture.settle(600_000);
  expect(publishes()).toHaveLength(1);
});

test('with requiresRepublish a volume is published every minute, and tokens are renewed in time', async () => {
  const { fixture, publishes, tokens } = await start({
    requiresRepublish: true,
    tokenRequests: [{ audience: 'vault' }],
  });
  await using _ = fixture;
  await fixture.settle(70 * 60_000);
  expect(publishes()).toHaveLength(71);
  expect(new Set(tokens().flat())).toEqual(new Set(['vault: token-1']));
  expect(publishes()[70]).toEqual(publishes()[0]);
  await fixture.settle(15 * 60_000);
  expect(tokens().at(-1), 'four fifths of its lifetime are over').toEqual(['vault: token-2']);
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle();
  const before = publishes().length;
  await fixture.settle(300_000);
  expect(publishes()).toHaveLength(before);
});

test('a pod keeps its volume if publishing it again fails, and an Event says so', async () => {
  const { fixture, plugin, publishes } = await start({ requiresRepublish: true });
  await using _ = fixture;
  plugin.driver.beforeCall = (method) => {
    if (method === 'NodePublishVolume') throw new CsiStatusError('Internal', 'no token');
  };
  await fixture.settle(62_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  expect((await fixture.eventLines()).join()).toContain('desc = no token');
  plugin.driver.beforeCall = undefined;
  const before = publishes().length;
  await fixture.settle(10_000);
  expect(publishes().length).toBe(before + 1);
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle();
  expect(plugin.driver.mounts.isEmpty).toBe(true);
});

test('after a restart volumes are published again as before', async () => {
  const { fixture, publishes, first, run } = await start({ requiresRepublish: true });
  await using _ = fixture;
  await first.close();
  run();
  await fixture.settle(130_000);
  expect(publishes()).toHaveLength(3);
});

test('an API server without tokens is reported', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, { ...ephemeral, tokenRequests: [{ audience: 'vault' }] });
  await makeNode(fixture, 'n1');
  await makeInlinePod(fixture, 'web');
  await fixture.settle();
  expect(plugin.calls).toEqual([]);
  expect((await fixture.eventLines()).join()).toContain('issues no service account tokens');
});
