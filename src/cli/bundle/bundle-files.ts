import { createHash } from 'node:crypto';
import type { ArchiveFile } from '../../io/files/tar-archive.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { redactedObject } from '../../kube/redaction/redact-object.ts';
import { redactedText } from '../../kube/redaction/redact-text.ts';

/** The list of what is in a bundle, and of what is not. */
export interface BundleManifest {
  readonly apiVersion: 'stowage.dev/bundle/v1';
  readonly kind: 'BundleManifest';
  readonly createdAt: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly files: readonly {
    readonly path: string;
    readonly what: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
  /** The objects that could not be read, and why. */
  readonly notRead: readonly { readonly what: string; readonly why: string }[];
}

/** Collects the files of a bundle. Everything that is added loses its secrets here, and nowhere can a file be added without it. */
export class BundleFiles {
  readonly #files = new Map<string, { readonly what: string; readonly content: Buffer }>();
  readonly #notRead: { readonly what: string; readonly why: string }[] = [];

  addText(path: string, what: string, text: string): void {
    this.#files.set(path, { what, content: Buffer.from(redactedText(text)) });
  }

  addJson(path: string, what: string, value: unknown): void {
    this.#files.set(path, { what, content: Buffer.from(`${jsonText(redactedObject(value), 1)}\n`) });
  }

  missed(what: string, why: string): void {
    this.#notRead.push({ what, why: redactedText(why) });
  }

  get notReadCount(): number {
    return this.#notRead.length;
  }

  /** All files by path, with the manifest first. */
  finish(about: Pick<BundleManifest, 'createdAt' | 'versions'>): readonly ArchiveFile[] {
    const sorted = [...this.#files].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const manifest: BundleManifest = {
      apiVersion: 'stowage.dev/bundle/v1',
      kind: 'BundleManifest',
      ...about,
      files: sorted.map(([path, { what, content }]) => ({
        path,
        what,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      })),
      notRead: this.#notRead.toSorted((a, b) => (a.what < b.what ? -1 : 1)),
    };
    const inFolder = (path: string, content: Buffer) => ({ path: `stowage-bundle/${path}`, content });
    return [
      inFolder('manifest.json', Buffer.from(`${jsonText(manifest, 1)}\n`)),
      ...sorted.map(([path, { content }]) => inFolder(path, content)),
    ];
  }
}
