import { expect, test } from 'vitest';
import type { ClusterRole, PolicyRule } from '../../kube/api/stored/rbac.ts';
import { realClock } from '../../runtime/clock.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import { RegistryFixture } from '../registry/testing/registry-fixture.ts';
import { RoleAggregation } from './role-aggregation.ts';

const write = { manager: 'test', user: 'test', warn() {} };
const readPods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const readNodes: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] };
const gathering = {
  clusterRoleSelectors: [{ matchLabels: { gather: 'me' } }, { matchLabels: { also: 'me' } }],
};

class Fixture {
  readonly #fixture: RegistryFixture;
  readonly #aggregation: RoleAggregation;

  private constructor(fixture: RegistryFixture, aggregation: RoleAggregation) {
    this.#fixture = fixture;
    this.#aggregation = aggregation;
  }

  static async start(): Promise<Fixture> {
    const fixture = await RegistryFixture.start();
    const onError = (error: unknown) => expect.unreachable(String(error));
    return new Fixture(
      fixture,
      await RoleAggregation.start({ registry: fixture.registry, clock: realClock, onError }),
    );
  }

  get revision(): number {
    return this.#fixture.store.revision;
  }

  async create(name: string, labels: object, more: object): Promise<void> {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, labels },
      rules: null,
      ...more,
    };
    await this.#fixture.registry.create(this.#kind, undefined, role as unknown as StoredObject, write);
  }

  async delete(name: string): Promise<void> {
    await this.#fixture.registry.delete(this.#kind, { name }, {}, write);
  }

  async rules(name: string): Promise<ClusterRole['rules']> {
    await this.#aggregation.settled();
    return ((await this.#fixture.registry.get(this.#kind, { name })).object as ClusterRole).rules;
  }

  async close(): Promise<void> {
    await this.#aggregation.close();
  }

  get #kind(): ServedKind {
    return this.#fixture.registry.kinds.byPlural(
      'rbac.authorization.k8s.io/v1',
      'clusterroles',
    ) as ServedKind;
  }
}

test('a role aggregates the rules of selected roles, each once', async () => {
  const fixture = await Fixture.start();
  await fixture.create('all', {}, { aggregationRule: gathering });
  await fixture.create('b', { gather: 'me' }, { rules: [readPods] });
  await fixture.create('a', { also: 'me' }, { rules: [readNodes, readPods] });
  await fixture.create('c', { other: 'me' }, { rules: [{ ...readPods, verbs: ['*'] }] });
  expect(await fixture.rules('all')).toEqual([readPods, readNodes]);
  await fixture.delete('b');
  expect(await fixture.rules('all')).toEqual([readNodes, readPods]);
  await fixture.delete('a');
  expect(await fixture.rules('all')).toBeNull();
  await fixture.close();
});

test('manual changes are reverted, and nothing is written when the rules are up to date', async () => {
  const fixture = await Fixture.start();
  await fixture.create('b', { gather: 'me' }, { rules: [readPods] });
  await fixture.create('all', {}, { aggregationRule: gathering, rules: [readNodes] });
  expect(await fixture.rules('all')).toEqual([readPods]);
  const before = fixture.revision;
  await fixture.create('unrelated', {}, { rules: [readNodes] });
  expect(await fixture.rules('all')).toEqual([readPods]);
  expect(fixture.revision).toBe(before + 1);
  await fixture.close();
});

test('roles that aggregate each other converge', async () => {
  const fixture = await Fixture.start();
  await fixture.create('a', { gather: 'me' }, { aggregationRule: gathering });
  await fixture.create('b', { gather: 'me' }, { aggregationRule: gathering });
  await fixture.create('c', { also: 'me' }, { rules: [readPods] });
  expect(await fixture.rules('a')).toEqual([readPods]);
  expect(await fixture.rules('b')).toEqual([readPods]);
  await fixture.close();
});
