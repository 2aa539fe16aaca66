import type { PodSpec } from '../../../../kube/api/core.ts';
import type { KubeObject } from '../../../../kube/api/meta.ts';
import type { Resource } from '../../../../kube/resource.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  priorityClasses,
} from '../../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../../kube/undefined-if-not-found.ts';
import { labels } from '../../../../kube/well-known.ts';
import type { Random } from '../../../../runtime/random.ts';
import { namespace, type SchedulerFixture } from '../../testing/scheduler-fixture.ts';
import { cpu, onSeparateNodes, zonalDriver } from './fixtures.ts';

const zones = ['a', 'b', 'c'];
const classNames = ['local', 'zonal', 'tracked'];

/** Random changes by users and administrators of a cluster, all drawn from one seed. */
export class RandomHistory {
  readonly #fixture: SchedulerFixture;
  readonly #random: Random;
  #created = 0;

  constructor(fixture: SchedulerFixture, random: Random) {
    this.#fixture = fixture;
    this.#random = random;
  }

  async begin(): Promise<void> {
    await this.#fixture.storageClass('zonal', { provisioner: zonalDriver });
    const client = this.#fixture.cluster.resource(priorityClasses);
    await client.create({ metadata: { name: 'urgent' }, value: 1000 });
  }

  /** One change, and the time until the next. */
  async step(): Promise<void> {
    const actions = [
      () => this.#createPod(),
      () => this.#createPod(),
      () => this.#createPod(),
      () => this.#createDisk(),
      () => this.#createDisk(),
      () => this.#deleteOne(pods),
      () => this.#deleteOne(persistentVolumeClaims),
      () => this.#deleteFreeDisk(),
      () => this.#cordon(),
      () => this.#relabel(),
      () => this.#replaceNode(),
    ];
    await this.#random.pick(actions)();
    if (this.#chance(3)) await this.#fixture.settle(this.#random.int(3_000));
  }

  async #createPod(): Promise<void> {
    const name = this.#newName('p');
    const claims = new Set<string>();
    for (let left = this.#random.int(3); left > 0; left -= 1) claims.add(await this.#someClaim());
    await this.#fixture.pod(name, [...claims], {
      metadata: { namespace, name, labels: { app: this.#chance(3) ? 'web' : 'other' } },
      spec: this.#podSpec(),
    });
  }

  #podSpec(): PodSpec {
    const hostPort = 8000 + this.#random.int(3);
    const ports = this.#chance(5) ? [{ containerPort: 80, hostPort }] : [];
    const [container] = cpu(`${1 + this.#random.int(3)}`).containers ?? [];
    return {
      ...(this.#chance(4) && onSeparateNodes),
      ...(this.#chance(5) && { nodeSelector: { [labels.zone]: this.#random.pick(zones) } }),
      ...(this.#chance(6) && { priorityClassName: 'urgent' }),
      containers: [{ ...container!, ports }],
    };
  }

  /** Mostly a new claim; sometimes one that another pod may use too. */
  async #someClaim(): Promise<string> {
    const { items } = await this.#fixture.cluster.resource(persistentVolumeClaims).list();
    if (items.length === 0 || !this.#chance(6)) return await this.#createClaim();
    return this.#random.pick(items).metadata?.name ?? '';
  }

  async #createClaim(): Promise<string> {
    const name = this.#newName('c');
    const size = `${1 + this.#random.int(5)}Gi`;
    await this.#fixture.claim(name, size, { storageClassName: this.#random.pick(classNames) });
    return name;
  }

  async #createDisk(): Promise<void> {
    const { items } = await this.#fixture.cluster.resource(nodes).list();
    const nodeName = this.#random.pick(items).metadata?.name ?? '';
    await this.#fixture.disk(this.#newName('d'), `${1 + this.#random.int(6)}Gi`, nodeName);
  }

  async #deleteOne<T extends KubeObject>(resource: Resource<T>): Promise<void> {
    const client = this.#fixture.cluster.resource(resource);
    const { items } = await client.list();
    if (items.length > 0)
      await undefinedIfNotFound(
        client.delete({ namespace, name: this.#random.pick(items).metadata?.name ?? '' }),
      );
  }

  async #deleteFreeDisk(): Promise<void> {
    const client = this.#fixture.cluster.resource(persistentVolumes);
    const free = (await client.list()).items.filter(({ spec }) => spec?.claimRef === undefined);
    if (free.length > 0)
      await undefinedIfNotFound(client.delete({ name: this.#random.pick(free).metadata?.name ?? '' }));
  }

  async #cordon(): Promise<void> {
    await this.#changeNode({ spec: { unschedulable: this.#chance(3) ? true : null } });
  }

  async #relabel(): Promise<void> {
    await this.#changeNode({ metadata: { labels: { [labels.zone]: this.#random.pick(zones) } } });
  }

  /** Adds a node, and deletes another with its disks. */
  async #replaceNode(): Promise<void> {
    const client = this.#fixture.cluster.resource(nodes);
    const { items } = await client.list();
    if (items.length > 3) await client.delete({ name: this.#random.pick(items).metadata?.name ?? '' });
    await this.#fixture.node(this.#newName('m'), { labels: { [labels.zone]: this.#random.pick(zones) } });
  }

  async #changeNode(body: object): Promise<void> {
    const client = this.#fixture.cluster.resource(nodes);
    const name = this.#random.pick((await client.list()).items).metadata?.name ?? '';
    await client.patch({ name }, { type: 'merge', body });
  }

  #newName(prefix: string): string {
    this.#created += 1;
    return `${prefix}${this.#created}`;
  }

  /** True once in `of` calls, on average. */
  #chance(of: number): boolean {
    return this.#random.int(of) === 0;
  }
}
