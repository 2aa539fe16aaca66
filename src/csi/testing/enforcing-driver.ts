import { CsiStatusError } from '../csi-errors.ts';
import type { CsiServices, ServiceMethods } from '../csi-server.ts';
import {
  type Controller,
  ControllerServiceCapability_RPC_Type as ControllerCapability,
  type CreateVolumeRequest,
  type ListVolumesRequest,
  type Node,
  NodeServiceCapability_RPC_Type as NodeCapability,
  type Topology,
} from '../generated/csi.ts';
import { identityOf } from './csi-fixture.ts';
import { type DriverVolume, DriverVolumes } from './driver-volumes.ts';
import { NodeMounts } from './node-mounts.ts';

export interface EnforcingDriverOptions {
  readonly name?: string;
  /** The label whose values are the segments; volumes are local to their segment. */
  readonly topologyKey?: string;
  /** Bytes of each segment, by the value of the label. */
  readonly pools: Readonly<Record<string, bigint>>;
  /** Off: volumes are reachable from every node. */
  readonly hasTopology?: boolean | undefined;
  /** The value for the node that the node service runs on. */
  readonly nodeId?: string;
  readonly controllerCapabilities?: readonly (keyof typeof ControllerCapability)[];
  /** Whether a node has to act after an expansion; it has to by default. */
  readonly expandsOnNode?: boolean;
  readonly nodeCapabilities?: readonly (keyof typeof NodeCapability)[];
  readonly maxVolumesPerNode?: bigint;
  /** Volumes in a page of ListVolumes. */
  readonly listPage?: number;
}

const controllerDefault = ['CREATE_DELETE_VOLUME', 'GET_CAPACITY', 'EXPAND_VOLUME', 'LIST_VOLUMES'] as const;
const nodeDefault = ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'] as const;

/**
 * A CSI driver for tests that accounts for every byte and refuses what does not fit. Serve it on a socket (`CsiFixture.serve`) or in
 * process (`InProcessDriver.connect`). `calls` is the history; `beforeCall` and `afterCall` may throw, wait or change the driver, so that
 * tests lose requests and replies at any point.
 */
export class EnforcingDriver {
  readonly name: string;
  readonly topologyKey: string;
  readonly pools: Map<string, bigint>;
  readonly volumes = new DriverVolumes();
  /** The ids of its snapshots. */
  readonly snapshots = new Set<string>();
  /** Volumes that are published to nodes, as `VOLUME-ID NODE-ID`. */
  readonly published = new Set<string>();
  /** Volumes that the node service has staged and published. */
  readonly mounts = new NodeMounts();
  readonly calls: { readonly method: string; readonly request: unknown }[] = [];
  /** What NodeGetInfo answers. */
  maxVolumesPerNode = 0n;
  /** Runs before the call takes effect. */
  beforeCall: ((method: string, request: unknown) => Promise<void> | void) | undefined;
  /** Runs after the call took effect, before its reply. */
  afterCall: ((method: string, request: unknown) => Promise<void> | void) | undefined;
  /** Replaces the reply of a call: for drivers that break the rules. */
  changeReply: ((method: string, reply: object) => object) | undefined;
  readonly #options: EnforcingDriverOptions;

  constructor(options: EnforcingDriverOptions) {
    this.#options = options;
    this.maxVolumesPerNode = options.maxVolumesPerNode ?? 0n;
    this.name = options.name ?? 'enforcing.example.com';
    this.topologyKey = options.topologyKey ?? 'topology.example.com/node';
    this.pools = new Map(Object.entries(options.pools));
  }

  freeIn(segment: string): bigint {
    const used = [...this.volumes.inSegment(segment)];
    return (
      (this.pools.get(segment) ?? 0n) -
      used.reduce((sum, { bytes, parameters }) => sum + bytes * copiesIn(parameters), 0n)
    );
  }

  callsOf(method: string): readonly unknown[] {
    return this.calls.filter((call) => call.method === method).map(({ request }) => request);
  }

  /** A volume that was made before. */
  addVolume(id: string, segment: string, bytes: bigint): void {
    this.volumes.set(id, { id, name: id, segment, bytes, parameters: {} });
  }

  services(): CsiServices {
    const { hasTopology } = this.#options;
    return {
      identity: identityOf(this.name, { hasTopology }),
      controller: this.#controller(),
      node: this.#node(),
    };
  }

  #controller(): ServiceMethods<typeof Controller> {
    const { controllerCapabilities = controllerDefault } = this.#options;
    return {
      controllerGetCapabilities: async () => ({
        capabilities: controllerCapabilities.map((name) => ({
          type: { case: 'rpc' as const, value: { type: ControllerCapability[name] } },
        })),
      }),
      createVolume: (request) => this.#run('CreateVolume', request, () => this.#create(request)),
      deleteVolume: (request) =>
        this.#run('DeleteVolume', request, () => {
          this.volumes.delete(request.volumeId);
          return {};
        }),
      listVolumes: (request) => this.#run('ListVolumes', request, () => this.#list(request)),
      getCapacity: (request) =>
        this.#run('GetCapacity', request, () => ({
          availableCapacity: this.#freeAt(request.accessibleTopology) / copiesIn(request.parameters),
        })),
      controllerExpandVolume: (request) =>
        this.#run('ControllerExpandVolume', request, () => {
          const required = request.capacityRange?.requiredBytes ?? 0n;
          const volume = this.#volume(request.volumeId);
          const more = required - volume.bytes;
          if (more > this.freeIn(volume.segment)) throw new CsiStatusError('OutOfRange', 'the pool is full');
          if (more > 0n) volume.bytes = required;
          return { capacityBytes: volume.bytes, nodeExpansionRequired: this.#options.expandsOnNode ?? true };
        }),
      controllerPublishVolume: (request) =>
        this.#run('ControllerPublishVolume', request, () => {
          this.published.add(`${request.volumeId} ${request.nodeId}`);
          return { publishContext: { attachedTo: request.nodeId } };
        }),
      controllerUnpublishVolume: (request) =>
        this.#run('ControllerUnpublishVolume', request, () => {
          this.published.delete(`${request.volumeId} ${request.nodeId}`);
          return {};
        }),
      controllerModifyVolume: (request) =>
        this.#run('ControllerModifyVolume', request, () => {
          this.#volume(request.volumeId).mutable = request.mutableParameters;
          return {};
        }),
    };
  }

  #node(): ServiceMethods<typeof Node> {
    const { nodeCapabilities = nodeDefault, nodeId = 'node' } = this.#options;
    const { mounts } = this;
    return {
      nodeGetCapabilities: async () => ({
        capabilities: nodeCapabilities.map((name) => ({
          type: { case: 'rpc' as const, value: { type: NodeCapability[name] } },
        })),
      }),
      nodeGetInfo: (request) =>
        this.#run('NodeGetInfo', request, () => {
          const { maxVolumesPerNode } = this;
          return { nodeId, maxVolumesPerNode, accessibleTopology: this.#topologyOf(nodeId) };
        }),
      nodeStageVolume: (request) =>
        this.#run('NodeStageVolume', request, () => {
          mounts.stage(request.volumeId, request.stagingTargetPath);
          return {};
        }),
      nodeUnstageVolume: (request) =>
        this.#run('NodeUnstageVolume', request, () => {
          mounts.unstage(request.volumeId, request.stagingTargetPath);
          return {};
        }),
      nodePublishVolume: (request) =>
        this.#run('NodePublishVolume', request, () => {
          const { stagingTargetPath: staging, targetPath: target } = request;
          mounts.publish(request.volumeId, { staging, target });
          return {};
        }),
      nodeUnpublishVolume: (request) =>
        this.#run('NodeUnpublishVolume', request, () => {
          mounts.unpublish(request.targetPath);
          return {};
        }),
      nodeExpandVolume: (request) =>
        this.#run('NodeExpandVolume', request, () => {
          mounts.expand(request.volumeId, request.volumePath);
          return {};
        }),
    };
  }

  async #run<T>(method: string, request: unknown, effect: () => T): Promise<T> {
    this.calls.push({ method, request });
    await this.beforeCall?.(method, request);
    const reply = effect();
    await this.afterCall?.(method, request);
    // A test that changes a reply wants it to be wrong.
    return this.changeReply === undefined ? reply : (this.changeReply(method, reply as object) as T);
  }

  #create(request: CreateVolumeRequest) {
    const { name, capacityRange, accessibilityRequirements, parameters } = request;
    const { volumeContentSource: contentSource } = request;
    const content = contentSource === undefined ? {} : { contentSource };
    const source = contentSource?.type;
    if (source?.case === 'snapshot' && !this.snapshots.has(source.value.snapshotId))
      throw new CsiStatusError('NotFound', `there is no snapshot ${source.value.snapshotId}`);
    const bytes = capacityRange?.requiredBytes ?? 0n;
    const found = this.volumes.get(`id-${name}`);
    if (found !== undefined && found.bytes !== bytes)
      throw new CsiStatusError('AlreadyExists', `${name} has ${found.bytes} bytes`);
    if (found !== undefined) return { volume: { ...this.#reply(found), ...content } };
    const { preferred = [], requisite = [] } = accessibilityRequirements ?? {};
    const wanted = [...preferred, ...requisite].map(({ segments }) => segments[this.topologyKey] ?? '');
    const choices = accessibilityRequirements === undefined ? [...this.pools.keys()] : wanted;
    const taken = bytes * copiesIn(parameters);
    const segment = choices.find((one) => this.freeIn(one) >= taken);
    if (segment === undefined)
      throw new CsiStatusError('ResourceExhausted', `no pool has ${bytes} bytes free`);
    const volume = { id: `id-${name}`, name, segment, bytes, parameters };
    this.volumes.set(volume.id, volume);
    return { volume: { ...this.#reply(volume), ...content } };
  }

  /** Returns pages of `listPage` volumes; the token is the position. */
  #list({ startingToken }: ListVolumesRequest) {
    const { listPage = 100 } = this.#options;
    const start = Number(startingToken);
    const entries = [...this.volumes.values()]
      .slice(start, start + listPage)
      .map((volume) => ({ volume: this.#reply(volume) }));
    const isLast = start + listPage >= this.volumes.size;
    return { entries, nextToken: isLast ? '' : String(start + listPage) };
  }

  #reply({ id, bytes, segment }: DriverVolume) {
    return {
      volumeId: id,
      capacityBytes: bytes,
      volumeContext: { pool: segment },
      accessibleTopology: this.#options.hasTopology === false ? [] : [this.#topologyOf(segment)],
    };
  }

  #topologyOf(segment: string) {
    return { segments: { [this.topologyKey]: segment } };
  }

  #freeAt(topology: Topology | undefined): bigint {
    if (topology !== undefined) return this.freeIn(topology.segments[this.topologyKey] ?? '');
    return [...this.pools.keys()].reduce((sum, segment) => sum + this.freeIn(segment), 0n);
  }

  #volume(id: string): DriverVolume {
    const volume = this.volumes.get(id);
    if (volume === undefined) throw new CsiStatusError('NotFound', `there is no volume ${id}`);
    return volume;
  }
}

function copiesIn({ copies = '1' }: Readonly<Record<string, string>>): bigint {
  return BigInt(copies);
}
