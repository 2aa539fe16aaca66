import { expect, test } from 'vitest';
import type { ClusterRole, PolicyRule } from '../../kube/api/rbac-v1.ts';
import { realClock } from '../../runtime/clock.ts';
import type { Kind, StoredObject } from '../kinds/kind.ts';
import { RegistryWorld } from '../registry/testing/registry-world.ts';
import { RoleAggregation } from './role-aggregation.ts';

const write = { manager: 'test', user: 'test', warn() {} };
const readPods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const readNodes: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] };
const gathering = {
  clusterRoleSelectors: [{ matchLabels: { gather: 'me' } }, { matchLabels: { also: 'me' } }],
};

class World {
  readonly #world: RegistryWorld;
  readonly #aggregation: RoleAggregation;

  private constructor(world: RegistryWorld, aggregation: RoleAggregation) {
    this.#world = world;
    this.#aggregation = aggregation;
  }

  static async start(): Promise<World> {
    const world = await RegistryWorld.start();
    const onError = (error: unknown) => expect.unreachable(String(error));
    return new World(
      world,
      await RoleAggregation.start({ registry: world.registry, clock: realClock, onError }),
    );
  }

  get revision(): number {
    return this.#world.store.revision;
  }

  async create(name: string, labels: object, more: object): Promise<void> {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, labels },
      rules: null,
      ...more,
    };
    await this.#world.registry.create(this.#kind, undefined, role as unknown as StoredObject, write);
  }

  async delete(name: string): Promise<void> {
    await this.#world.registry.delete(this.#kind, { name }, {}, write);
  }

  async rules(name: string): Promise<ClusterRole['rules']> {
    await this.#aggregation.settled();
    return ((await this.#world.registry.get(this.#kind, { name })).object as ClusterRole).rules;
  }

  async close(): Promise<void> {
    await this.#aggregation.close();
  }

  get #kind(): Kind {
    return this.#world.registry.kinds.byPlural('rbac.authorization.k8s.io/v1', 'clusterroles') as Kind;
  }
}

test('a role gathers the rules of those that it selects, each once', async () => {
  const world = await World.start();
  await world.create('all', {}, { aggregationRule: gathering });
  await world.create('b', { gather: 'me' }, { rules: [readPods] });
  await world.create('a', { also: 'me' }, { rules: [readNodes, readPods] });
  await world.create('c', { other: 'me' }, { rules: [{ ...readPods, verbs: ['*'] }] });
  expect(await world.rules('all')).toEqual([readPods, readNodes]);
  await world.delete('b');
  expect(await world.rules('all')).toEqual([readNodes, readPods]);
  await world.delete('a');
  expect(await world.rules('all')).toBeNull();
  await world.close();
});

test('what somebody writes into it does not stay, and when all is well nothing is written', async () => {
  const world = await World.start();
  await world.create('b', { gather: 'me' }, { rules: [readPods] });
  await world.create('all', {}, { aggregationRule: gathering, rules: [readNodes] });
  expect(await world.rules('all')).toEqual([readPods]);
  const before = world.revision;
  await world.create('unrelated', {}, { rules: [readNodes] });
  expect(await world.rules('all')).toEqual([readPods]);
  expect(world.revision).toBe(before + 1);
  await world.close();
});

test('roles that gather each other come to rest', async () => {
  const world = await World.start();
  await world.create('a', { gather: 'me' }, { aggregationRule: gathering });
  await world.create('b', { gather: 'me' }, { aggregationRule: gathering });
  await world.create('c', { also: 'me' }, { rules: [readPods] });
  expect(await world.rules('a')).toEqual([readPods]);
  expect(await world.rules('b')).toEqual([readPods]);
  await world.close();
});
