import type { ClusterChange, IndexedKind } from '../../../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../../engine/cluster-index/cluster-index.ts';
import type { ObjectOf } from '../../../engine/cluster-index/read-object.ts';
import {
  boundClaim,
  claim,
  csiNode,
  hostname,
  labelIn,
  node,
  storageClass,
  volume,
  zone,
} from '../../../engine/testing/objects.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, PodSpec } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { CSINode } from '../../../kube/api/storage.ts';
import type { Random } from '../../../runtime/random.ts';

const kinds = [
  'Node',
  'CSINode',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Pod',
  'Pod',
  'Pod',
  'Pod',
  'Pod',
  'Pod',
  'Pod',
  'Pod',
] as const;
type ChangingKind = (typeof kinds)[number];

const apps = ['web', 'db'];
const accessModes = ['ReadWriteOnce', 'ReadWriteOncePod'] as const;
const zones = ['a', 'b'];

/**
 * Random changes to a small cluster with scarce resources, all drawn from one seed. Most changes are about pods: they are created with or
 * without a node, nominated, bound, relabelled, finished, terminating, and deleted.
 */
export class RandomClusterChanges {
  readonly #index: ClusterIndex;
  readonly #random: Random;
  readonly #objects = new Map<string, { readonly kind: IndexedKind; readonly object: KubeObject }>();
  #version = 1;

  constructor(index: ClusterIndex, random: Random) {
    this.#index = index;
    this.#random = random;
    this.#put('StorageClass', storageClass('local'));
    for (const name of ['n0', 'n1', 'n2']) this.#put('Node', this.#node(name));
    for (const name of ['c0', 'c1', 'c2']) {
      this.#put(
        'PersistentVolume',
        volume(`v${name}`, '5Gi', { spec: { csi: { driver: 'd1', volumeHandle: name } } }),
      );
      this.#put('PersistentVolumeClaim', boundClaim(name, '5Gi', `v${name}`, { spec: this.#modes() }));
    }
  }

  get objects(): Iterable<{ readonly kind: IndexedKind; readonly object: KubeObject }> {
    return this.#objects.values();
  }

  get pods(): readonly Pod[] {
    return this.#known('Pod') as readonly Pod[];
  }

  /** The resulting change of the index; undefined if nothing has changed. */
  applyNext(): ClusterChange | undefined {
    const kind = this.#random.pick(kinds);
    const known = this.#known(kind);
    if (known.length > 0 && this.#chance(6)) return this.#delete(kind, this.#random.pick(known));
    return this.#put(kind, this.#create(kind, known));
  }

  /** A pod that needs a node. It is not added to the cluster. */
  pendingPod(name: string): Pod {
    return this.#newPod(name, this.#spec());
  }

  #known(kind: IndexedKind): readonly KubeObject[] {
    return [...this.#objects.values()].filter((entry) => entry.kind === kind).map(({ object }) => object);
  }

  #put(kind: IndexedKind, object: KubeObject): ClusterChange | undefined {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.#objects.set(`${kind} ${keyOf(stored)}`, { kind, object: stored });
    return this.#index.upsert(kind, stored as ObjectOf[IndexedKind]).change;
  }

  #delete(kind: IndexedKind, object: KubeObject): ClusterChange | undefined {
    this.#objects.delete(`${kind} ${keyOf(object)}`);
    return this.#index.remove(kind, keyOf(object)).change;
  }

  #create(kind: ChangingKind, known: readonly KubeObject[]): KubeObject {
    switch (kind) {
      case 'Node':
        return this.#node(this.#nodeName());
      case 'CSINode':
        return this.#csiNode();
      case 'PersistentVolume':
        return this.#volume();
      case 'PersistentVolumeClaim':
        return this.#claim();
      case 'Pod':
        return known.length > 0 && !this.#chance(3)
          ? this.#changed(this.#random.pick(known))
          : this.#newPod(`p${this.#random.int(6)}`, { ...this.#spec(), ...this.#assigned() });
    }
  }

  #node(name: string): Node {
    const created = node(name, { [zone]: this.#random.pick(zones) });
    const allocatable = { cpu: this.#random.pick(['4', '8']), memory: '8Gi', pods: '10' };
    const taints = [{ key: 'k', value: 'v', effect: 'NoSchedule' as const }];
    return {
      ...created,
      spec: { ...(this.#chance(12) && { unschedulable: true }), ...(this.#chance(12) && { taints }) },
      status: { allocatable },
    };
  }

  #csiNode(): CSINode {
    return csiNode(this.#nodeName(), { d1: this.#chance(3) ? undefined : this.#random.int(3) });
  }

  #volume(): PersistentVolume {
    const name = `v${this.#random.int(5)}`;
    const csi = { driver: 'd1', volumeHandle: `h${this.#random.int(4)}` };
    const place = this.#chance(2)
      ? labelIn(hostname, this.#nodeName())
      : labelIn(zone, this.#random.pick(zones));
    return volume(name, this.#size(), {
      phase: this.#random.pick(['Available', 'Available', 'Bound', 'Released']),
      ...(this.#chance(2) && { terms: [place] }),
      spec: { accessModes: [this.#random.pick(accessModes)], csi },
    });
  }

  #claim(): PersistentVolumeClaim {
    const spec = this.#modes();
    const name = this.#claimName();
    return this.#chance(2)
      ? boundClaim(name, this.#size(), `v${this.#random.int(5)}`, { spec })
      : claim(name, this.#size(), { spec });
  }

  #modes(): { readonly accessModes: readonly (typeof accessModes)[number][] } {
    return { accessModes: [this.#random.pick(accessModes)] };
  }

  #newPod(name: string, spec: PodSpec): Pod {
    this.#version += 1;
    const metadata = {
      namespace: 'default',
      name,
      uid: `uid-${name}-${this.#version}`,
      labels: this.#labels(),
    };
    return { metadata, spec, status: this.#chance(2) ? { nominatedNodeName: this.#nodeName() } : {} };
  }

  #assigned(): PodSpec {
    return this.#chance(2) ? { nodeName: this.#nodeName() } : {};
  }

  /** The spec of a pod never changes, and neither does its node once it has one. */
  #changed(pod: Pod): Pod {
    const { metadata, spec, status } = pod;
    const isAssigned = (spec?.nodeName ?? '') !== '';
    switch (this.#random.int(4)) {
      case 0:
        return { ...pod, metadata: { ...metadata, labels: this.#labels() } };
      case 1:
        return { ...pod, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
      case 2:
        if (isAssigned) return { ...pod, status: { ...status, phase: 'Succeeded' } };
        return { ...pod, status: this.#chance(2) ? { nominatedNodeName: this.#nodeName() } : {} };
      default:
        if (isAssigned) return pod;
        return { ...pod, spec: { ...spec, nodeName: status?.nominatedNodeName ?? this.#nodeName() } };
    }
  }

  #spec(): PodSpec {
    const labelSelector = { matchLabels: { app: this.#random.pick(apps) } };
    const term = [{ labelSelector, topologyKey: this.#random.pick([hostname, zone]) }];
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term } };
    const antiAffinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term } };
    const whenUnsatisfiable = 'DoNotSchedule' as const;
    const ports = [{ containerPort: 80, hostPort: this.#random.pick([80, 81]) }];
    const cpu = this.#random.pick(['1', '2', '3', '5']);
    const claimName = this.#claimName();
    return {
      priority: this.#random.pick([0, 0, 0, 100, 1000]),
      ...(this.#chance(3) && { affinity: this.#random.pick([affinity, antiAffinity]) }),
      ...(this.#chance(4) && { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable, ...term[0]! }] }),
      ...(this.#chance(4) && { nodeSelector: { [zone]: this.#random.pick(zones) } }),
      ...(this.#chance(3) && { tolerations: [{ key: 'k', operator: 'Exists' }] }),
      containers: [{ name: 'main', ...(this.#chance(4) && { ports }), resources: { requests: { cpu } } }],
      volumes: this.#chance(2) ? [] : [{ name: 'data', persistentVolumeClaim: { claimName } }],
    };
  }

  #labels(): Record<string, string> {
    return { app: this.#random.pick(apps) };
  }

  #nodeName(): string {
    return `n${this.#random.int(3)}`;
  }

  #claimName(): string {
    return `c${this.#random.int(3)}`;
  }

  #size(): string {
    return `${1 + this.#random.int(4)}Gi`;
  }

  /** True once in `of` calls, on average. */
  #chance(of: number): boolean {
    return this.#random.int(of) === 0;
  }
}

function keyOf({ metadata }: KubeObject): string {
  return metadata?.namespace === undefined ? metadata!.name! : `${metadata.namespace}/${metadata.name}`;
}
