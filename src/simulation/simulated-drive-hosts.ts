import type { Pod } from '../kube/api/core.ts';
import { driveNameKey, drives, drivesDriver, isSameUuid } from '../kube/stowage/drive.ts';
import { boundVolumesOf } from './invariants/attachments.ts';
import type { StoredVersion } from './invariants/invariant.ts';
import type { StoredObjects } from './invariants/stored-objects.ts';
import { SimulatedDriveHost } from './simulated-drive-host.ts';

/** The machines of all nodes, and the part of a kubelet that mounts volumes on drives for pods. */
export class SimulatedDriveHosts {
  readonly #hosts = new Map<string, SimulatedDriveHost>();
  /** The volumes of pods that run, by the pods' uid. */
  readonly #published = new Map<
    string,
    { readonly host: SimulatedDriveHost; readonly volumes: readonly string[] }
  >();

  /** What is stored now. */
  #state: StoredObjects | undefined;
  readonly #removedWhileHeld: string[] = [];

  /** Volumes whose data was removed although a ledger of the filesystem had an active entry of them. */
  get removedWhileHeld(): readonly string[] {
    return this.#removedWhileHeld;
  }

  of(node: string): SimulatedDriveHost {
    const known = this.#hosts.get(node);
    if (known !== undefined) return known;
    const host = new SimulatedDriveHost((uuid, volume) => this.#removed(node, uuid, volume));
    this.#hosts.set(node, host);
    return host;
  }

  get removedInUse(): readonly string[] {
    return [...this.#hosts.values()].flatMap((host) => host.removedInUse);
  }

  /** Undefined on a node without node service. */
  isConnected(node: string, uuid: string): boolean | undefined {
    return this.#hosts.get(node)?.isConnected(uuid);
  }

  hasData(node: string, uuid: string, volume: string): boolean {
    return this.#hosts.get(node)?.hasData(uuid, volume) === true;
  }

  /** Follows the pods: a pod that runs uses its volumes until it has ended, or its object is gone. */
  stored({ resource, before, after }: StoredVersion, state: StoredObjects): void {
    this.#state = state;
    if (resource !== 'pods' || this.#hosts.size === 0) return;
    const pod = after as Pod | undefined;
    const uid = (after ?? before)?.metadata?.uid ?? '';
    if (pod?.status?.phase === 'Running') this.#publish(uid, pod, state);
    else this.#unpublish(uid);
  }

  #removed(node: string, uuid: string, volume: string): void {
    const isHeld = [...(this.#state?.values(drives) ?? [])].some(
      ({ spec }) =>
        spec?.nodeName === node &&
        isSameUuid(spec.filesystemUUID, uuid) &&
        spec.volumes?.some(({ name, state }) => name === volume && state !== 'Releasing'),
    );
    if (isHeld) this.#removedWhileHeld.push(volume);
  }

  #publish(uid: string, pod: Pod, state: StoredObjects): void {
    const host = this.#hosts.get(pod.spec?.nodeName ?? '');
    if (host === undefined || this.#published.has(uid)) return;
    const volumes = boundVolumesOf(pod, state).filter(({ spec }) => spec?.csi?.driver === drivesDriver);
    for (const { metadata, spec } of volumes) {
      const drive = state.get(drives, spec?.csi?.volumeAttributes?.[driveNameKey] ?? '');
      host.publish(drive?.spec?.filesystemUUID ?? '', metadata?.name ?? '', uid);
    }
    this.#published.set(uid, { host, volumes: volumes.map(({ metadata }) => metadata?.name ?? '') });
  }

  #unpublish(uid: string): void {
    const { host, volumes } = this.#published.get(uid) ?? {};
    for (const volume of volumes ?? []) host?.unpublish(volume, uid);
    this.#published.delete(uid);
  }
}
