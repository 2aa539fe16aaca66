import {
  type BackingImage,
  type BackingImageSpec,
  backingImages,
} from '../../../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../../../kube/stowage/disk-schedule.ts';
import { storageNodes } from '../../../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../../../kube/undefined-if-not-found.ts';
import { DisksFixture } from '../../testing/disks-fixture.ts';
import { CopyAgents } from './copy-agents.ts';

const apiVersion = 'stowage.dev/v1alpha1';

/** A cluster with the controller `disks` and agents that make copies of images. Disk 1 is on node n1, and so on. */
export class ImagesFixture {
  readonly disks: DisksFixture;
  readonly agents = new CopyAgents();

  private constructor(disks: DisksFixture) {
    this.disks = disks;
  }

  static async start(...limits: readonly number[]): Promise<ImagesFixture> {
    const fixture = new ImagesFixture(await DisksFixture.start(...limits));
    fixture.disks.environment.run([fixture.agents.controller]);
    return fixture;
  }

  async settle(ms?: number): Promise<void> {
    await this.disks.settle(ms);
  }

  async addImage(name: string, bytes: number, spec: BackingImageSpec = {}): Promise<void> {
    await this.createImage(name, bytes, spec);
    await this.settle();
  }

  /** An image of `bytes` that is downloaded. */
  async createImage(name: string, bytes: number, spec: BackingImageSpec = {}): Promise<void> {
    this.agents.sizes.set(name, bytes);
    const source = { download: { url: 'https://images.example.com/base.img' } };
    await this.#images.create({
      apiVersion,
      kind: 'BackingImage',
      metadata: { name },
      spec: { source, ...spec },
    } as BackingImage);
  }

  async patchImage(name: string, spec: object): Promise<void> {
    await this.#images.patch({ name }, { type: 'merge', body: { spec } });
    await this.settle();
  }

  async deleteImage(name: string): Promise<void> {
    await this.#images.delete({ name });
    await this.settle();
  }

  async image(name: string): Promise<BackingImage | undefined> {
    return await undefinedIfNotFound(this.#images.get({ name }));
  }

  /** A change of the spec of a StorageNode. */
  async patchNode(number: number, spec: object): Promise<void> {
    await this.disks.environment.cluster
      .resource(storageNodes)
      .patch({ name: `n${number}` }, { type: 'merge', body: { spec } });
    await this.settle();
  }

  /** Copies as `DISK STATE BYTES`, by the number of the disk: what is wanted, and what the schedule granted. */
  async copies(name: string): Promise<readonly string[]> {
    const image = await this.image(name);
    const files = image?.status?.diskFileStatusMap ?? {};
    const wanted = Object.keys(image?.spec?.diskFileSpecMap ?? {}).sort();
    const lines: string[] = [];
    for (const uuid of wanted) {
      const { spec, status } = (await this.schedule(uuid)) ?? {};
      const granted = status?.backingImages?.[name]?.scheduledSize ?? 0;
      const asked = spec?.backingImages?.[name];
      const bytes = asked === granted ? granted : `${granted}/${asked ?? '-'}`;
      lines.push([Number(uuid.slice(-12)), files[uuid]?.state ?? '-', bytes].join(' '));
    }
    return lines;
  }

  async schedule(uuid: string): Promise<DiskSchedule | undefined> {
    return await undefinedIfNotFound(
      this.disks.environment.cluster.resource(diskSchedules).get({ name: uuid }),
    );
  }

  /** The numbers of the disks whose schedule has an entry for the image. */
  async entries(name: string): Promise<readonly number[]> {
    const { items } = await this.disks.environment.cluster.resource(diskSchedules).list();
    const found = items.filter(
      ({ spec, status }) =>
        spec?.backingImages?.[name] !== undefined || status?.backingImages?.[name] !== undefined,
    );
    return found.map(({ metadata }) => Number(metadata?.name?.slice(-12))).sort();
  }

  /** A condition as `STATUS REASON: MESSAGE`. */
  async condition(name: string, type: string): Promise<string> {
    const found = (await this.image(name))?.status?.conditions?.find((one) => one.type === type);
    return found === undefined ? 'none' : `${found.status} ${found.reason}: ${found.message}`;
  }

  get #images() {
    return this.disks.environment.cluster.resource(backingImages);
  }
}
