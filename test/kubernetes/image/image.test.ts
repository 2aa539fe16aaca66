import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../project-root.ts';
import { runCommand } from '../node/commands.ts';
import { ImageArchive, temporaryFolder } from './image-archive.ts';
import { lacksImageTools } from './image-requirements.ts';
import { buildImage, stowageImage } from './stowage-image.ts';

const timeout = 600_000;

interface Sbom {
  readonly packages: readonly {
    readonly name: string;
    readonly versionInfo: string;
    readonly externalRefs?: readonly { readonly referenceLocator: string }[];
  }[];
}

describe.skipIf(lacksImageTools())('the image', () => {
  test('is the same, byte for byte, when it is built again; docker reads the blobs that the OCI index has', {
    timeout,
  }, async () => {
    const { archive, sbom } = await stowageImage();
    // As a user whose new files only the owner may read.
    const again = await buildImage(join(await temporaryFolder(), 'again.tar'), { umask: '077' });
    expect(await sha256(again.archive)).toBe(await sha256(archive));
    expect(await readFile(again.sbom, 'utf8')).toBe(await readFile(sbom, 'utf8'));

    const image = await ImageArchive.open(archive);
    const [docker] = await image.json<readonly { readonly Layers: readonly string[] }[]>('manifest.json');
    expect(docker!.Layers).toEqual(await image.layers());
    const { rootfs } = await image.config();
    expect(rootfs.diff_ids.map((digest) => `blobs/${digest.replace(':', '/')}`)).toEqual(docker!.Layers);
  });

  test('runs as another user than root, without a shell, setuid files, or files that others may write', {
    timeout,
  }, async () => {
    const image = await ImageArchive.open((await stowageImage()).archive);
    const { config } = await image.config();
    expect(config.User).toBe('65532:65532');
    expect(config.Entrypoint).toEqual(['/usr/bin/stowage']);
    const files = await image.files();
    expect(files.filter(({ owner }) => owner !== '0/0')).toEqual([]);
    expect(files.filter(({ mode }) => /s/i.test(mode))).toEqual([]);
    const isWritable = ({ mode }: { readonly mode: string }) => !mode.startsWith('l') && mode[8] === 'w';
    expect(files.filter(isWritable).map(({ path }) => path)).toEqual(['tmp/']);
    const isShell = /\/(ba|da|a|z|c|tc|k)?sh$|\/(busybox|perl|python[\d.]*|env)$/;
    expect(files.filter(({ path }) => isShell.test(path))).toEqual([]);
    const paths = new Set(files.map(({ path }) => path));
    expect(paths.size, 'no file is in two layers, folders aside').toBe(
      files.length - repeatedFolders(files.map(({ path }) => path)),
    );
  });

  test('has every program that the driver of local drives starts', { timeout }, async () => {
    const image = await ImageArchive.open((await stowageImage()).archive);
    const paths = new Set((await image.files()).map(({ path }) => path));
    const started = await programsOfDrives();
    expect(started).toContain('mkfs.xfs');
    const isThere = (program: string) =>
      ['usr/bin', 'usr/sbin'].some((folder) => paths.has(join(folder, program)));
    expect(started.filter((program) => !isThere(program))).toEqual([]);
  });

  test('has exactly the packages that its SBOM lists', { timeout }, async () => {
    const { archive, sbom } = await stowageImage();
    const root = await (await ImageArchive.open(archive)).unpack();
    const listed = (JSON.parse(await readFile(sbom, 'utf8')) as Sbom).packages.flatMap(
      ({ name, versionInfo, externalRefs = [] }) =>
        externalRefs.map(({ referenceLocator }) => ({
          kind: referenceLocator.split('/')[0],
          id: `${name} ${versionInfo}`,
        })),
    );
    const ids = (kind: string) =>
      listed
        .filter((entry) => entry.kind === kind)
        .map(({ id }) => id)
        .sort();
    const { stdout: node } = await runCommand(join(root, 'usr/bin/node'), '--version');
    expect(ids('pkg:npm')).toEqual(
      [...(await npmPackages(root)), `node-linux-${process.arch} ${node.trim().slice(1)}`].sort(),
    );
    expect(ids('pkg:deb')).toEqual(await debianPackages(root));
  });
});

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Layers repeat the folders that they need. */
function repeatedFolders(paths: readonly string[]): number {
  const folders = paths.filter((path) => path.endsWith('/'));
  return folders.length - new Set(folders).size;
}

/** The first argument of the functions that start programs, in the sources. */
async function programsOfDrives(): Promise<readonly string[]> {
  const folder = join(projectRoot, 'src/drives');
  const names = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const calls = /(?:runProgram|#run|commands\.run|runSuccessfully)\((?:commands,\s*)?'([\w.]+)'/g;
  return [...new Set(sources.flatMap((text) => [...text.matchAll(calls)].map(([, program]) => program!)))];
}

async function npmPackages(root: string): Promise<readonly string[]> {
  const installed = join(root, 'usr/lib/stowage');
  const paths = (await readdir(installed, { recursive: true })).filter((path) =>
    /^(.*node_modules\/(@[^/]+\/)?[^/]+\/)?package\.json$/.test(path),
  );
  const manifests = await Promise.all(paths.map((path) => readFile(join(installed, path), 'utf8')));
  return manifests.map((text) => {
    const { name, version } = JSON.parse(text) as { readonly name: string; readonly version: string };
    return `${name} ${version}`;
  });
}

async function debianPackages(root: string): Promise<readonly string[]> {
  const folder = join(root, 'var/lib/dpkg/status.d');
  const controls = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
  );
  const field = (control: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1];
  return controls.map((control) => `${field(control, 'Package')} ${field(control, 'Version')}`).sort();
}
