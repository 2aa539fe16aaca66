import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { type Random, seededRandom } from '../../runtime/random.ts';
import { AgentFixture } from './testing/agent-fixture.ts';
import { FileServer } from './testing/file-server.ts';

const nodeNames = ['n1', 'n2'];
const kibibyte = 1024;
const operations = 25;
const data = Buffer.from('an image of some bytes '.repeat(1000));

/** Random operations on volumes and images, while the agents crash after random steps. */
class Walk {
  readonly #fixture: AgentFixture;
  readonly #random: Random;
  readonly #url: string;
  readonly #volumes = new Map<string, number>();
  readonly #images = new Set<string>();
  #count = 0;

  constructor(fixture: AgentFixture, random: Random, url: string) {
    this.#fixture = fixture;
    this.#random = random;
    this.#url = url;
  }

  async step(): Promise<void> {
    this.#fixture.crash.arm(this.#random.int(2) === 0 ? undefined : 1 + this.#random.int(30));
    for (let changes = 1 + this.#random.int(3); changes > 0; changes -= 1) await this.#change();
    await this.#fixture.settle(500 * this.#random.int(8));
    if (this.#fixture.crash.hasCrashed) await this.#fixture.restart(nodeNames);
    else this.#fixture.crash.arm();
  }

  async #change(): Promise<void> {
    const { cluster } = this.#fixture;
    const [volume] = this.#random.shuffle([...this.#volumes.keys()]);
    const [image] = this.#random.shuffle([...this.#images]);
    this.#count += 1;
    switch (this.#random.int(5)) {
      case 0:
      case 1: {
        const name = `v${this.#count}`;
        const size = 64 * kibibyte;
        const isBased = image !== undefined && this.#random.int(3) === 0;
        const numberOfReplicas = 1 + this.#random.int(2);
        await this.#fixture.addVolume(name, {
          size,
          numberOfReplicas,
          ...(isBased && { backingImage: image }),
        });
        this.#volumes.set(name, size);
        return;
      }
      case 2: {
        if (volume === undefined) return;
        const size = (this.#volumes.get(volume) ?? 0) + 64 * kibibyte;
        await cluster
          .resource(diskVolumes)
          .patch({ name: volume }, { type: 'merge', body: { spec: { size } } });
        this.#volumes.set(volume, size);
        return;
      }
      case 3: {
        const name = `i${this.#count}`;
        const source = { download: { url: this.#url } };
        const minNumberOfCopies = 1 + this.#random.int(2);
        await this.#fixture.addImage(name, { source, expectedSize: data.length, minNumberOfCopies });
        this.#images.add(name);
        return;
      }
      default:
        if (volume !== undefined) await this.#deleteVolume(volume);
    }
  }

  async #deleteVolume(name: string): Promise<void> {
    const { cluster } = this.#fixture;
    await cluster.resource(diskVolumes).delete({ name });
    this.#volumes.delete(name);
    for (const { metadata } of await this.#fixture.replicasOf(name))
      await cluster.resource(replicas).delete({ name: metadata?.name ?? '' });
  }

  /** Everything that was asked for is there, with its file, and nothing else. */
  async check(): Promise<void> {
    const { cluster } = this.#fixture;
    await this.#fixture.until(async () => {
      const { items } = await cluster.resource(replicas).list();
      const isDone = items.every(
        ({ metadata, spec, status }) =>
          metadata?.deletionTimestamp === undefined &&
          status?.currentState === 'running' &&
          status.size === this.#volumes.get(spec?.volumeName ?? '') &&
          status.failedAt === undefined,
      );
      const images = (await cluster.resource(backingImages).list()).items;
      return (
        isDone &&
        images.every(({ spec, status }) => {
          const wanted = Object.keys(spec?.diskFileSpecMap ?? {}).sort();
          const entries = Object.entries(status?.diskFileStatusMap ?? {});
          const ready = entries.filter(([, { state }]) => state === 'ready').map(([uuid]) => uuid);
          return (
            wanted.length > 0 && wanted.join() === ready.sort().join() && entries.length === ready.length
          );
        })
      );
    });
    const { items } = await cluster.resource(replicas).list();
    for (const { metadata, spec, status } of items)
      expect(await this.#fixture.fileSize(spec?.nodeID ?? '', `replicas/${metadata?.name}/data.img`)).toEqual(
        [status?.size, expect.any(Number)],
      );
    for (const node of nodeNames) {
      const expected = items
        .filter(({ spec }) => spec?.nodeID === node)
        .map(({ metadata }) => metadata?.name ?? '');
      expect(await this.#entries(node, 'replicas')).toEqual(expected.sort());
      for (const image of await this.#entries(node, 'images'))
        expect(data.equals(await this.#fixture.read(node, `images/${image}/data.img`))).toBe(true);
    }
  }

  /** After everything is deleted, no file is left. */
  async checkEmpty(): Promise<void> {
    const { cluster } = this.#fixture;
    for (const name of [...this.#volumes.keys()]) await this.#deleteVolume(name);
    for (const name of this.#images) await cluster.resource(backingImages).delete({ name });
    await this.#fixture.until(async () => {
      const left = [
        ...(await cluster.resource(replicas).list()).items,
        ...(await cluster.resource(backingImages).list()).items,
      ];
      return left.length === 0;
    });
    for (const node of nodeNames)
      for (const folder of ['replicas', 'images']) expect(await this.#entries(node, folder)).toEqual([]);
  }

  async #entries(node: string, folder: string): Promise<readonly string[]> {
    return await readdir(join(this.#fixture.diskPath(node), folder)).then(
      (names) => names.sort(),
      () => [],
    );
  }
}

test.each(['a'])('random operations and crashes, seed %s', async (seed) => {
  const fixture = await AgentFixture.start(...nodeNames);
  const server = await FileServer.start({ data });
  const walk = new Walk(fixture, seededRandom(seed), server.url);
  for (let at = 0; at < operations; at += 1) await walk.step();
  await walk.check();
  await walk.checkEmpty();
});
