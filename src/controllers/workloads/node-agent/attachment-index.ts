import type { VolumeAttachment } from '../../../kube/api/storage.ts';

/**
 * Attachments by node and by volume: those that the server told of, and those that we are about to make. The latter count from the
 * moment somebody decides on them, so that two pods can't have the last slot.
 */
export class AttachmentIndex {
  readonly #byName = new Map<string, VolumeAttachment>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byVolume = new Map<string, Set<string>>();

  /** An attachment as the server has it, or one that will be made; the server's takes its place. */
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

  /** It could not be made; what the server told of meanwhile stays. */
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
