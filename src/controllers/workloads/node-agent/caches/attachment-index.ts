import type { VolumeAttachment } from '../../../../kube/api/storage.ts';

/**
 * Attachments by node and by volume: those from the server, and those that we are about to create. The latter count from the
 * moment of the decision, so that two pods cannot get the last slot.
 *
 * An attachment whose deletion this agent has requested counts as detached while its version is the one that the request names: the
 * request may take effect at any time, also when its response is lost. Another version shows that it has, or that it never will.
 *
 * An earlier agent may have sent such a request, too, and have ended before its response. So an attachment that this agent has inherited
 * counts as detached until it has another version; {@link PodAttachments} writes one when a pod needs it.
 */
export class AttachmentIndex {
  readonly #byName = new Map<string, VolumeAttachment>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byVolume = new Map<string, Set<string>>();
  /** The version whose deletion was requested. Key: the name of the VolumeAttachment. */
  readonly #deleted = new Map<string, string>();
  /** The version that existed when this agent started. Key: the name of the VolumeAttachment. */
  readonly #inherited = new Map<string, string>();

  /** An attachment from the server, or one that will be created; the server's replaces it. */
  put(attachment: VolumeAttachment): void {
    const name = nameOf(attachment);
    this.drop(name, attachment);
    this.#byName.set(name, attachment);
    add(this.#byNode, attachment.spec?.nodeName ?? '', name);
    add(this.#byVolume, attachment.spec?.source?.persistentVolumeName ?? '', name);
  }

  drop(name: string, replacement?: VolumeAttachment): void {
    const attachment = this.#byName.get(name);
    if (attachment === undefined) return;
    this.#byName.delete(name);
    for (const versions of [this.#deleted, this.#inherited])
      if (versions.get(name) !== replacement?.metadata?.resourceVersion) versions.delete(name);
    this.#byNode.get(attachment.spec?.nodeName ?? '')?.delete(name);
    this.#byVolume.get(attachment.spec?.source?.persistentVolumeName ?? '')?.delete(name);
  }

  /** It could not be created; an attachment that the server has reported meanwhile stays. */
  giveUp(name: string): void {
    if (this.#byName.get(name)?.metadata?.uid === undefined) this.drop(name);
  }

  get(name: string): VolumeAttachment | undefined {
    return this.#byName.get(name);
  }

  /** An attachment that was there when this agent started, and that no pod runs with. */
  inherit(attachment: VolumeAttachment): void {
    this.put(attachment);
    this.#inherited.set(nameOf(attachment), attachment.metadata?.resourceVersion ?? '');
  }

  /** Whether an earlier agent may have requested the deletion of this version. */
  isInherited(attachment: VolumeAttachment): boolean {
    return this.#inherited.get(nameOf(attachment)) === attachment.metadata?.resourceVersion;
  }

  /** Call it before the request is sent. */
  deletionRequested({ metadata }: VolumeAttachment): void {
    this.#deleted.set(metadata?.name ?? '', metadata?.resourceVersion ?? '');
  }

  /** The server has refused the deletion. */
  deletionRefused(name: string): void {
    this.#deleted.delete(name);
  }

  /** Whether this agent has requested the deletion of the version that is known. */
  isBeingDeleted(name: string): boolean {
    return this.#deleted.has(name);
  }

  /** Whether pods can use it: it is attached, and neither the server nor an agent is about to remove it. */
  isUsable(attachment: VolumeAttachment): boolean {
    const isThere =
      attachment.status?.attached === true && attachment.metadata?.deletionTimestamp === undefined;
    return isThere && !this.isBeingDeleted(nameOf(attachment)) && !this.isInherited(attachment);
  }

  ofVolume(volumeName: string): readonly VolumeAttachment[] {
    return this.#all(this.#byVolume.get(volumeName));
  }

  onNode(nodeName: string): readonly VolumeAttachment[] {
    return this.#all(this.#byNode.get(nodeName));
  }

  count(nodeName: string, driver: string): number {
    return this.onNode(nodeName).filter(({ spec }) => spec?.attacher === driver).length;
  }

  #all(names: ReadonlySet<string> | undefined): readonly VolumeAttachment[] {
    return [...(names ?? [])].flatMap((name) => this.#byName.get(name) ?? []);
  }
}

function nameOf({ metadata }: VolumeAttachment): string {
  return metadata?.name ?? '';
}

function add(map: Map<string, Set<string>>, at: string, name: string): void {
  const names = map.get(at);
  if (names === undefined) map.set(at, new Set([name]));
  else names.add(name);
}
