import { CsiStatusError } from '../csi-errors.ts';

/** Volumes that a test driver has staged and published on its node. It refuses calls in an order that CSI forbids. */
export class NodeMounts {
  /** Volume ids by staging path. */
  readonly staged = new Map<string, string>();
  /** Volume ids by target path. */
  readonly published = new Map<string, string>();

  stage(volumeId: string, path: string): void {
    const found = this.staged.get(path);
    if (found !== undefined && found !== volumeId)
      throw new CsiStatusError('AlreadyExists', `${found} is staged at ${path}`);
    this.staged.set(path, volumeId);
  }

  unstage(volumeId: string, path: string): void {
    if ([...this.published.values()].includes(volumeId))
      throw new CsiStatusError('FailedPrecondition', `${volumeId} is still published`);
    this.staged.delete(path);
  }

  publish(
    volumeId: string,
    { staging, target }: { readonly staging: string; readonly target: string },
  ): void {
    if (staging !== '' && this.staged.get(staging) !== volumeId)
      throw new CsiStatusError('FailedPrecondition', `${volumeId} is not staged at ${staging}`);
    this.published.set(target, volumeId);
  }

  unpublish(target: string): void {
    this.published.delete(target);
  }

  expand(volumeId: string, path: string): void {
    if (this.published.get(path) !== volumeId)
      throw new CsiStatusError('NotFound', `${volumeId} is not published at ${path}`);
  }

  get isEmpty(): boolean {
    return this.staged.size === 0 && this.published.size === 0;
  }
}
