import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { newToken, tokenHash } from '../../../controllers/disk-agent/transfer/bearer-token.ts';
import { readFileIfExists, writePrivateFile } from '../../../io/files/private-files.ts';

/**
 * The tokens of unfinished uploads, in files that only their owner may read, named by the hash that the BackingImage has. So an upload that was
 * interrupted goes on when it is called again by the same user on the same machine.
 */
export class UploadTokens {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  static ofUser(env: NodeJS.ProcessEnv): UploadTokens {
    const state = env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
    return new UploadTokens(join(state, 'stowage', 'uploads'));
  }

  /** Written before an object has the hash: otherwise the token of that object could be lost. */
  async add(): Promise<{ readonly token: string; readonly hash: string }> {
    const token = newToken();
    const hash = tokenHash(token);
    await writePrivateFile(this.#file(hash), token);
    return { token, hash };
  }

  /** Undefined if the upload was started elsewhere. */
  async find(hash: string): Promise<string | undefined> {
    if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
    const token = await readFileIfExists(this.#file(hash));
    return token !== undefined && tokenHash(token) === hash ? token : undefined;
  }

  async delete(hash: string): Promise<void> {
    await rm(this.#file(hash), { force: true });
  }

  #file(hash: string): string {
    return join(this.#folder, hash);
  }
}
