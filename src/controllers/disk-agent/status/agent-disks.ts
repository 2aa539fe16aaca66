import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Ids } from '../../../runtime/ids.ts';
import type { HostFiles } from '../files/host-files.ts';
import { type DiskProbe, probeDisk } from '../files/probe-disk.ts';

/** A disk that can be used. */
export interface AgentDisk {
  /** The name in `spec.disks`. */
  readonly name: string;
  readonly path: string;
  readonly uuid: string;
}

export interface AgentDisksOptions {
  readonly files: HostFiles;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** A disk that takes longer is not used: the calls for a dead network filesystem may never return. */
const probeMaxMs = 10_000;

/** The disks of one node as they were last found. */
export class AgentDisks {
  readonly #options: AgentDisksOptions;
  #ready: ReadonlyMap<string, AgentDisk> = new Map();
  #isProbed = false;
  /** Probes that have not returned, by path. */
  readonly #pending = new Map<string, Promise<DiskProbe>>();
  readonly #listeners = new Set<() => void>();

  constructor(options: AgentDisksOptions) {
    this.#options = options;
  }

  /** Whether the disks have been checked. Before that, a disk that is not ready is only unknown. */
  get isProbed(): boolean {
    return this.#isProbed;
  }

  /** The disk with this UUID, if it can be used. */
  ready(uuid: string | undefined): AgentDisk | undefined {
    return uuid === undefined ? undefined : this.#ready.get(uuid);
  }

  get all(): readonly AgentDisk[] {
    return [...this.#ready.values()];
  }

  /** Calls the listener when other disks can be used than before. The returned function unsubscribes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Looks at every disk in the spec of the node. Of two disks that are one, the second is not used. */
  async probe(node: Pick<StorageNode, 'spec' | 'status'>): Promise<ReadonlyMap<string, DiskProbe>> {
    const found = new Map<string, DiskProbe>();
    const disks = Object.entries(node.spec?.disks ?? {}).sort(byReadinessThenName(node));
    await Promise.all(
      disks.map(async ([name, { path = '', diskType = 'filesystem' }]) => {
        const knownUUID = node.status?.diskStatus?.[name]?.diskUUID;
        found.set(name, diskType === 'block' ? blockDisk(name) : await this.#probeOne(path, knownUUID));
      }),
    );
    const probes = withoutDuplicates(new Map(disks.map(([name]) => [name, found.get(name) as DiskProbe])));
    this.#setReady(
      [...probes].flatMap(([name, probe]) => {
        const path = node.spec?.disks?.[name]?.path ?? '';
        return probe.kind === 'found' ? [{ name, path, uuid: probe.uuid }] : [];
      }),
    );
    return probes;
  }

  async #probeOne(path: string, knownUUID: string | undefined): Promise<DiskProbe> {
    const { files, clock, ids } = this.#options;
    if (this.#pending.has(path)) return notAnswering(path);
    const work = probeDisk(files, { path, knownUUID, newUUID: () => ids.uid() }).finally(() =>
      this.#pending.delete(path),
    );
    this.#pending.set(path, work);
    const deadline = new AbortController();
    try {
      return await Promise.race([
        work,
        clock.sleep(probeMaxMs, deadline.signal).then(() => notAnswering(path)),
      ]);
    } finally {
      deadline.abort();
    }
  }

  #setReady(disks: readonly AgentDisk[]): void {
    const key = (each: Iterable<AgentDisk>) => JSON.stringify([...each]);
    const isSame = this.#isProbed && key(this.#ready.values()) === key(disks);
    this.#ready = new Map(disks.map((disk) => [disk.uuid, disk]));
    this.#isProbed = true;
    if (!isSame) for (const listener of this.#listeners) listener();
  }
}

type NamedDisk = readonly [name: string, ...unknown[]];

/** A disk that was in use stays in use, whatever a new one is called. */
function byReadinessThenName({ status }: Pick<StorageNode, 'status'>) {
  const isReady = (name: string) =>
    status?.diskStatus?.[name]?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ??
    false;
  return ([a]: NamedDisk, [b]: NamedDisk) =>
    Number(isReady(b)) - Number(isReady(a)) || (a < b ? -1 : a > b ? 1 : 0);
}

function withoutDuplicates(probes: ReadonlyMap<string, DiskProbe>): ReadonlyMap<string, DiskProbe> {
  const byUUID = new Map<string, string>();
  const byDevice = new Map<string, string>();
  return new Map(
    [...probes].map(([name, probe]) => {
      if (probe.kind !== 'found') return [name, probe];
      const twin = byUUID.get(probe.uuid);
      if (twin !== undefined) return [name, duplicateUUID(twin, probe.uuid)];
      const neighbour = byDevice.get(probe.device);
      if (neighbour !== undefined) return [name, duplicateFilesystem(neighbour)];
      byUUID.set(probe.uuid, name);
      byDevice.set(probe.device, name);
      return [name, probe];
    }),
  );
}

function duplicateUUID(twin: string, uuid: string): DiskProbe {
  const message = `it has the UUID ${uuid}, like the disk ${twin}; remove one of them from spec.disks`;
  return { kind: 'problem', reason: 'DuplicateUUID', message };
}

function duplicateFilesystem(neighbour: string): DiskProbe {
  const message = `it is on the filesystem of the disk ${neighbour}, whose bytes would be counted twice; remove one of them from spec.disks`;
  return { kind: 'problem', reason: 'DuplicateFilesystem', message };
}

function blockDisk(name: string): DiskProbe {
  const message = `the agent keeps data in files; give ${name} diskType filesystem, and a directory as its path`;
  return { kind: 'problem', reason: 'UnsupportedDiskType', message };
}

function notAnswering(path: string): DiskProbe {
  const message = `${path} did not answer within ${probeMaxMs / 1000} s; check the disk and its mount`;
  return { kind: 'problem', reason: 'NotAnswering', message };
}
