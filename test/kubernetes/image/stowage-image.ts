import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../project-root.ts';
import { withBuildLock } from '../build-lock.ts';
import { runCommand } from '../node/commands.ts';

const folder = join(projectRoot, 'build/for-tests/images');

export interface BuiltImage {
  readonly archive: string;
  readonly sbom: string;
}

/** The image of the current sources, for this machine. The first caller builds it, all others find it. */
export async function stowageImage(): Promise<BuiltImage> {
  return await withBuildLock(
    join(projectRoot, 'build/for-tests/images.lock'),
    async () => {
      await runCommand('npm', '--prefix', projectRoot, 'run', 'build');
      const built = join(folder, fingerprint());
      if (!existsSync(built)) await buildInto(built);
      return { archive: join(built, 'image.tar'), sbom: join(built, 'image.spdx.json') };
    },
    () => {},
  );
}

/** `npm run image`, without the build before it. The result is the same for every umask. */
export async function buildImage(
  output: string,
  { flags = [], umask = '022' }: { readonly flags?: readonly string[]; readonly umask?: string } = {},
): Promise<BuiltImage> {
  const build = [process.execPath, join(projectRoot, 'scripts/image/main.mjs'), '--output', output, ...flags];
  await runCommand('sh', '-c', `umask ${umask} && exec "$@"`, 'sh', ...build);
  return { archive: output, sbom: output.replace(/\.tar$/, '.spdx.json') };
}

/** Only the newest is kept: each has 188 MiB. */
async function buildInto(built: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(join(folder, 'draft-'));
  await buildImage(join(draft, 'image.tar'));
  await rename(draft, built);
}

/** The hash of everything that affects the image: `dist` has the hash of the sources. */
function fingerprint(): string {
  const scripts = readdirSync(join(projectRoot, 'scripts/image')).map((name) => join('scripts/image', name));
  const inputs = ['dist/.built-from', 'package.json', 'package-lock.json', ...scripts.sort()];
  const hash = createHash('sha256');
  for (const path of inputs) hash.update(`${path}\n`).update(readFileSync(join(projectRoot, path)));
  return hash.digest('hex').slice(0, 16);
}
