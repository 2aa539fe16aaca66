import type { VolumeAttachment } from '../../../../kube/api/storage.ts';

/**
 * Attachments by node and by volume: those from the server, and those that we are about to create. The latter count from the
 * moment of the decision, so that two pods cannot get the last slot.
 */
export class AttachmentIndex {
  readonly #byName = new Map<string, VolumeAttachment>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byVolume = new Map<string, Set<string>>();

  /** An attachment from the server, or one that will be created; the server's replaces it. */
  put(attachment: VolumeAttachment): void {
    const name = nameOf(attachment);
    this.drop(name);
    this.#byName.set(name, attachment);
    add(this.#byNode, attachment.spec?.nodeName ?? '', name);
    add(this.#byVolume, attachment.spec?.source?.persistentVolumeName ?? '', name);
  }

  drop(name: string): void {
    const attachment = this.#byName.get(name);
    if (attachment === undefined) return;
    this.#byName.delete(name);
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
