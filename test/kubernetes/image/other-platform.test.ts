/** The image for the platform that this machine does not have. */
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageVersion } from '../../../src/io/files/package-version.ts';
import { runCommand } from '../node/commands.ts';
import { ImageArchive } from './image-archive.ts';
import { emulators, lacksEmulator, lacksImageTools } from './image-requirements.ts';
import { type BuiltImage, buildImage, stowageImage } from './stowage-image.ts';

const timeout = 600_000;
const other = process.arch === 'x64' ? 'arm64' : 'amd64';
/** The machine in the header of an ELF file. */
const machineOf = { amd64: 62, arm64: 183 };

/** The registry lacks the binary of this optional package for arm64; it only makes another package faster, which is not used. */
const isOptional = (path: string) => path.includes('/node_modules/@msgpackr-extract/');

/** Starts the store, and reads its files. */
const storeScript = `
  const store = require(process.argv[1]).open({ path: process.argv[2] });
  store.put('key', 'kept').then(() => console.log(store.get('key')));
`;

describe.skipIf(lacksImageTools())('the image for another platform', () => {
  let folder = '';
  let built: BuiltImage;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stowage-other-platform-'));
    const flags = ['--platform', `linux/${other}`, '--tag', 'example.test/stowage:1'];
    built = await buildImage(join(folder, 'other.tar'), { flags });
  }, timeout);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('has the files of the one for this platform, all of them for that processor', {
    timeout,
  }, async () => {
    const image = await ImageArchive.open(built.archive);
    expect((await image.config()).architecture).toBe(other);
    const machines = await machinesBelow(await image.unpack());
    expect(machines.size).toBeGreaterThan(20);
    expect([...machines].filter(([, machine]) => machine !== machineOf[other])).toEqual([]);
    const own = await ImageArchive.open((await stowageImage()).archive);
    expect(await pathsWithoutPlatform(image)).toEqual(await pathsWithoutPlatform(own));
  });

  test.skipIf(lacksEmulator(other))('runs: Stowage, its store, and every program', { timeout }, async () => {
    const root = await (await ImageArchive.open(built.archive)).unpack();
    const run = async (program: string, ...args: readonly string[]) =>
      (await runCommand(emulators[other], '-L', root, join(root, program), ...args)).stdout;
    const installed = join(root, 'usr/lib/stowage');
    expect(await run('usr/bin/node', join(installed, 'dist/cli/main.js'), '--version')).toBe(
      `${packageVersion()}\n`,
    );
    const store = [join(installed, 'node_modules/lmdb'), join(folder, 'store')];
    expect(await run('usr/bin/node', '--eval', storeScript, '--', ...store)).toBe('kept\n');
    const programs = await programsIn(root);
    expect(programs).toContain('usr/sbin/mkfs.xfs');
    for (const program of programs)
      expect(await run(program, /xfs/.test(program) ? '-V' : '--version')).toMatch(/\d+\.\d+/);
  });
});

/** All but Stowage, which Node starts. */
async function programsIn(root: string): Promise<readonly string[]> {
  const folders = ['usr/bin', 'usr/sbin'];
  const names = await Promise.all(
    folders.map(async (path) => (await readdir(join(root, path))).map((name) => join(path, name))),
  );
  return names.flat().filter((path) => path !== 'usr/bin/stowage');
}

/** The paths of all files, in which the names of both platforms are the same. */
async function pathsWithoutPlatform(image: ImageArchive): Promise<readonly string[]> {
  const paths = (await image.files()).map(({ path }) => path).filter((path) => !path.endsWith('/'));
  return paths
    .filter((path) => !isOptional(path))
    .map((path) =>
      path
        .replace(/x86_64-linux-gnu|aarch64-linux-gnu/, 'LIBRARIES')
        .replace(/x64|arm64/g, 'PROCESSOR')
        // Each processor has its place for the loader, which is named in every program.
        .replace(/ld-linux-(x86-64\.so\.2|aarch64\.so\.1)$/, 'LOADER')
        .replace(/^usr\/lib64\//, 'usr/lib/'),
    )
    .toSorted();
}

/** The processor of each ELF file, by its path. */
async function machinesBelow(root: string): Promise<ReadonlyMap<string, number>> {
  const machines = new Map<string, number>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(20), 0, 20, 0);
    await file.close();
    if (bytesRead === 20 && buffer.toString('latin1', 1, 4) === 'ELF')
      machines.set(path, buffer.readUInt16LE(18));
  }
  return machines;
}
