import { existsSync } from 'node:fs';
import { mkdir, open, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../testing/temporary-directory.ts';
import { removeTree } from './remove-tree.ts';

test.runIf(process.platform === 'linux')(
  'the open directory is emptied, even if its path has become a link to another one',
  async () => {
    await using here = await temporaryDirectory();
    const at = (...names: readonly string[]) => join(here.path, ...names);
    for (const directory of ['held', 'outside']) {
      await mkdir(at(directory, 'volume'), { recursive: true });
      await writeFile(at(directory, 'volume', 'file'), 'text');
    }
    const handle = await open(at('held'), 'r');
    await rename(at('held'), at('moved'));
    await symlink(at('outside'), at('held'));
    await removeTree(handle, at('held'), 'volume');
    await handle.close();
    expect(existsSync(at('outside', 'volume', 'file'))).toBe(true);
    expect(existsSync(at('moved', 'volume'))).toBe(false);
  },
);
