import type { DataFile, HostFiles } from '../files/host-files.ts';
import type { CrashPoint } from './crash-point.ts';

/** Files of this machine that a test can follow: virtual time does not pass while calls are under way, and each change is a step of a crash point. */
export class WatchedFiles implements HostFiles {
  readonly #files: HostFiles;
  readonly #crash: CrashPoint;
  #pending = 0;
  /** Paths whose calls never return, as on a dead network filesystem. */
  readonly hanging = new Set<string>();

  constructor(files: HostFiles, crash: CrashPoint) {
    this.#files = files;
    this.#crash = crash;
  }

  get pending(): number {
    return this.#pending;
  }

  async #read<T>(path: string, work: () => Promise<T>): Promise<T> {
    if ([...this.hanging].some((each) => path.startsWith(each))) return await new Promise(() => {});
    this.#crash.check();
    this.#pending += 1;
    try {
      return await work();
    } finally {
      this.#pending -= 1;
    }
  }

  async #write<T>(path: string, work: () => Promise<T>): Promise<T> {
    return await this.#read(path, async () => {
      const result = await work();
      this.#crash.step();
      return result;
    });
  }

  makeFolder = (path: string) => this.#write(path, () => this.#files.makeFolder(path));
  writeText = (path: string, text: string) => this.#write(path, () => this.#files.writeText(path, text));
  createText = (path: string, text: string) => this.#write(path, () => this.#files.createText(path, text));
  resize = (path: string, bytes: number) => this.#write(path, () => this.#files.resize(path, bytes));
  rename = (from: string, to: string) => this.#write(from, () => this.#files.rename(from, to));
  removeFile = (path: string) => this.#write(path, () => this.#files.removeFile(path));
  removeFolder = (path: string) => this.#write(path, () => this.#files.removeFolder(path));
  facts = (path: string, isFollowed?: boolean) => this.#read(path, () => this.#files.facts(path, isFollowed));
  readText = (path: string) => this.#read(path, () => this.#files.readText(path));
  entries = (path: string) => this.#read(path, () => this.#files.entries(path));
  checkWritable = (path: string) => this.#read(path, () => this.#files.checkWritable(path));
  usage = (path: string) => this.#read(path, () => this.#files.usage(path));

  openData = async (path: string, isNew: boolean): Promise<DataFile> => {
    const file = await this.#read(path, () => this.#files.openData(path, isNew));
    return {
      path,
      read: (buffer, at) => this.#read(path, () => file.read(buffer, at)),
      write: (bytes, at) => this.#write(path, () => file.write(bytes, at)),
      resize: (bytes) => this.#write(path, () => file.resize(bytes)),
      sync: () => this.#write(path, () => file.sync()),
      size: () => this.#read(path, () => file.size()),
      mark: () => this.#write(path, () => file.mark()),
      facts: () => this.#read(path, () => file.facts()),
      close: () => file.close(),
    };
  };
}
