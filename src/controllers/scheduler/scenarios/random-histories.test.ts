/** After any history no pod waits that could be placed: a scheduler that is restarted places no further pod. */
import { expect, test } from 'vitest';
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/resources.ts';
import { seededRandom } from '../../../runtime/random.ts';
import type { SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { startWithDriver } from './testing/driver-fixture.ts';
import { numbered } from './testing/fixtures.ts';
import { RandomHistory } from './testing/random-history.ts';

const beside = ['pv-binder', 'protection', 'node-agent'];
/** Longer than any pause after a refusal by the driver, and than its published capacity may be out of date. */
const calmMs = 700_000;

async function waiting(fixture: SchedulerFixture): Promise<readonly string[]> {
  const { items } = await fixture.cluster.resource(pods).list();
  return items.filter(({ spec }) => spec?.nodeName === undefined).map(({ metadata }) => metadata?.name ?? '');
}

/** No volume has two claims, and no pod is on a node that cannot reach one of its volumes. */
async function expectSound(fixture: SchedulerFixture): Promise<void> {
  const claims = (await fixture.cluster.resource(persistentVolumeClaims).list()).items;
  const bound = claims.flatMap(({ spec }) => spec?.volumeName ?? []);
  expect(new Set(bound).size).toBe(bound.length);
  const volumes = (await fixture.cluster.resource(persistentVolumes).list()).items;
  const hosts = new Map(
    volumes.map(({ metadata, spec }) => {
      const [term] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
      return [metadata?.name, term?.matchExpressions?.[0]];
    }),
  );
  for (const { metadata, spec, status } of (await fixture.cluster.resource(pods).list()).items) {
    if (spec?.nodeName === undefined || status?.phase !== 'Running') continue;
    for (const { persistentVolumeClaim: used } of spec.volumes ?? []) {
      const claim = claims.find((one) => one.metadata?.name === used?.claimName);
      const rule = hosts.get(claim?.spec?.volumeName);
      if (rule?.key === 'kubernetes.io/hostname')
        expect(rule.values, `pod ${metadata?.name}`).toContain(spec.nodeName);
    }
  }
}

async function expectNotCrowded(fixture: SchedulerFixture): Promise<void> {
  const all = (await fixture.cluster.resource(pods).list()).items;
  for (const { metadata } of (await fixture.cluster.resource(nodes).list()).items) {
    const here = all.filter(({ spec, status }) => {
      return spec?.nodeName === metadata?.name && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
    });
    const requested = here.map(({ spec }) => Number(spec?.containers?.[0]?.resources?.requests?.cpu ?? 0));
    expect(requested.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(8);
    const ports = here
      .flatMap(({ spec }) => spec?.containers?.[0]?.ports ?? [])
      .map(({ hostPort }) => hostPort);
    expect(new Set(ports).size).toBe(ports.length);
  }
}

test.each(numbered('seed ', 4))('history of %s', async (seed) => {
  const sizes = Object.fromEntries(numbered('n', 5).map((name) => [name, '10Gi']));
  const { fixture, driver } = await startWithDriver(
    { nodes: sizes, publishEveryMs: 5_000 },
    { otherControllers: beside, extraControllers: [] },
  );
  await using _ = fixture;
  fixture.environment.run(driver.controllers);
  const history = new RandomHistory(fixture, seededRandom(seed));
  await history.begin();
  for (let left = 60; left > 0; left -= 1) await history.step();
  await fixture.settle(calmMs);
  expect(driver.refusals).toBe(0);
  await expectSound(fixture);
  await expectNotCrowded(fixture);
  const before = await waiting(fixture);
  await fixture.stopControllers();
  fixture.startControllers({ otherControllers: beside });
  await fixture.settle(30_000);
  expect(await waiting(fixture)).toEqual(before);
});
