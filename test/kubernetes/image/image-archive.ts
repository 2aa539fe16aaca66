import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCommand } from '../node/commands.ts';

interface Descriptor {
  readonly digest: string;
}

export interface ImageConfig {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Env: readonly string[];
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** A line of `tar --list --verbose`, such as `-rwxr-xr-x 0/0 4711 2026-11-17 09:54 usr/bin/mount`. */
export interface ImageFile {
  readonly mode: string;
  readonly owner: string;
  readonly path: string;
}

/** An unpacked image archive. Its files are unpacked on demand; all of it is removed with the test. */
export class ImageArchive {
  readonly #folder: string;

  static async open(archive: string): Promise<ImageArchive> {
    const folder = await temporaryFolder();
    await runCommand('tar', '-xf', archive, '-C', folder);
    return new ImageArchive(folder);
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  async json<T>(path: string): Promise<T> {
    return JSON.parse(await readFile(join(this.#folder, path), 'utf8')) as T;
  }

  async config(): Promise<ImageConfig> {
    const [image] = await this.json<readonly { readonly Config: string }[]>('manifest.json');
    return await this.json(image!.Config);
  }

  /** As the OCI index leads to them. */
  async layers(): Promise<readonly string[]> {
    const index = await this.json<{ readonly manifests: readonly Descriptor[] }>('index.json');
    const manifest = await this.json<{ readonly layers: readonly Descriptor[] }>(blob(index.manifests[0]!));
    return manifest.layers.map(blob);
  }

  async files(): Promise<readonly ImageFile[]> {
    const files: ImageFile[] = [];
    for (const layer of await this.layers()) {
      const path = join(this.#folder, layer);
      const { stdout } = await runCommand('tar', '--numeric-owner', '-tvf', path);
      for (const line of stdout.trim().split('\n')) {
        const [mode = '', owner = '', , , , name = ''] = line.split(/\s+/);
        files.push({ mode, owner, path: name });
      }
    }
    return files;
  }

  /** Unpacks all layers, and returns the folder. */
  async unpack(): Promise<string> {
    const root = await mkdtemp(join(this.#folder, 'root-'));
    for (const layer of await this.layers())
      await runCommand('tar', '--no-same-owner', '-xf', join(this.#folder, layer), '-C', root);
    return root;
  }
}

/** Until the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-image-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function blob({ digest }: Descriptor): string {
  return `blobs/${digest.replace(':', '/')}`;
}
