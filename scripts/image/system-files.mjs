/** Node, and the few files that programs expect on any system. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { debian } from './contents.mjs';
import { FileTree } from './file-tree.mjs';

/** The user of the image; the number is the one that other images without a distribution use. */
export const userId = 65532;
export const home = '/home/nonroot';

/** From the unpacked npm package in `archive`; npm, headers and manual pages stay out. */
export function nodeFiles(archive, folder) {
  mkdirSync(folder, { recursive: true });
  const wanted = { 'bin/node': 'usr/bin/node', LICENSE: 'usr/share/doc/nodejs/copyright' };
  execFileSync('tar', [
    '-xzf',
    archive,
    '-C',
    folder,
    ...Object.keys(wanted).map((path) => `package/${path}`),
  ]);
  const tree = new FileTree();
  for (const [path, target] of Object.entries(wanted)) tree.copy(target, join(folder, 'package', path));
  return tree;
}

export function addSystemFiles(tree) {
  tree.file(
    'etc/passwd',
    `root:x:0:0:root:/root:/nonexistent\nnonroot:x:${userId}:${userId}:nonroot:${home}:/nonexistent\n`,
  );
  tree.file('etc/group', `root:x:0:\nnonroot:x:${userId}:\n`);
  tree.file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n');
  tree.file(
    'etc/os-release',
    `PRETTY_NAME="Debian GNU/Linux ${debian.release}, files of Stowage only"\nNAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="${debian.release}"\n`,
  );
  tree.folder(home.slice(1));
  // Where a container's runtime mounts; its root file system may be read-only.
  for (const path of ['dev', 'proc', 'root', 'run', 'sys', 'var/lib/stowage']) tree.folder(path);
  tree.folder('tmp', 0o1777);
}
