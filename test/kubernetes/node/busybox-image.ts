import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './commands.ts';

/** The image that test pods use; the node has it, and there is no registry. */
export const busyboxImage = 'stowage.test/busybox:1';
const tags = ['stowage.test/pause:1', busyboxImage];

/** The sandbox of a pod waits; a shell does that as well as the usual program. */
const pauseScript = '#!/bin/sh\ntrap "exit 0" TERM INT\nwhile :; do sleep 3600 & wait $!; done\n';

/** Writes Debian's busybox as an image archive into `folder`, and returns its path. */
export async function packBusybox(folder: string): Promise<string> {
  const root = join(folder, 'rootfs');
  const image = join(folder, 'image');
  for (const path of ['bin', 'etc', 'tmp', 'proc', 'sys', 'dev', 'root', 'run', 'var', 'mnt', 'usr/bin'])
    await mkdir(join(root, path), { recursive: true });
  await mkdir(image);
  await addPrograms(root);
  const layer = join(image, 'layer.tar');
  await runCommand('tar', '--numeric-owner', '--owner=0', '--group=0', '-C', root, '-cf', layer, '.');
  const digest = createHash('sha256')
    .update(await readFile(layer))
    .digest('hex');
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Env: ['PATH=/bin:/usr/bin'], Entrypoint: ['/pause'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
    history: [],
  };
  const manifest = [{ Config: 'config.json', RepoTags: tags, Layers: ['layer.tar'] }];
  await writeFile(join(image, 'config.json'), JSON.stringify(config));
  await writeFile(join(image, 'manifest.json'), JSON.stringify(manifest));
  const archive = join(folder, 'busybox.tar');
  await runCommand('tar', '-C', image, '-cf', archive, 'manifest.json', 'config.json', 'layer.tar');
  await rm(image, { recursive: true });
  await rm(root, { recursive: true });
  return archive;
}

async function addPrograms(root: string): Promise<void> {
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  const { stdout } = await runCommand('/bin/busybox', '--list');
  const applets = stdout.split('\n').filter((applet) => applet !== '' && applet !== 'busybox');
  await Promise.all(applets.map((applet) => symlink('busybox', join(root, 'bin', applet))));
  await writeFile(join(root, 'pause'), pauseScript);
  await chmod(join(root, 'pause'), 0o755);
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
}
