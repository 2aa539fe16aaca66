/**
 * `npm run image -- --output FILE`: packs Stowage, Node and the needed files of Debian packages as an OCI image, without a registry of images
 * and without root. The same sources make the same bytes. README.md says what is in it and why.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { platforms } from './contents.mjs';
import { DebianFiles } from './debian-files.mjs';
import { debianPackage, npmPackage } from './download.mjs';
import { readLock } from './lock.mjs';
import { writeImage } from './oci-archive.mjs';
import { describeContents } from './sbom.mjs';
import { stowageFiles } from './stowage-files.mjs';
import { addSystemFiles, home, nodeFiles, userId } from './system-files.mjs';

const usage = `usage: npm run image -- --output FILE [--platform ${Object.keys(platforms).join('|')}] [--tag NAME:TAG]
                          [--sbom FILE] [--debian-mirror URL]`;
const hostPlatform = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;

const options = readOptions();
const folder = mkdtempSync(join(tmpdir(), 'stowage-image-'));
try {
  await build(options);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function build({ output, sbom, platform, tag: givenTag, mirror }) {
  const lock = readLock();
  const target = platforms[platform];
  const node = nodeFiles(await nodeArchive(lock, target), join(folder, 'node'));
  const { tree, packages: npm, stowage } = stowageFiles(join(folder, 'stowage'), target.npmCpu);
  const tag = givenTag ?? `stowage:${stowage.version}`;
  const available = await debianArchives(lock, target, mirror);
  const debian = new DebianFiles(available, join(folder, 'debian'), target.libraries).select([node, tree]);
  addSystemFiles(debian.tree);
  const { digest, size } = writeImage(output, {
    layers: [
      { entries: debian.tree.entries(), comment: 'Debian packages' },
      { entries: node.entries(), comment: 'Node' },
      { entries: tree.entries(), comment: 'Stowage' },
    ],
    config: imageConfig(stowage),
    architecture: target.architecture,
    tag,
    date: lock.date,
    folder,
  });
  const used = available.filter(({ name }) => debian.packages.includes(name));
  const npmLock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'));
  const contents = describeContents({ tag, platform: target, stowage, npm, debian: used, lock, npmLock });
  writeFileSync(sbom, `${JSON.stringify(contents, null, 2)}\n`);
  console.log(
    `${tag} ${platform} ${digest}, ${Math.round(size / 2 ** 20)} MiB: ${output}\ncontents: ${sbom}`,
  );
}

function imageConfig({ version, description, license }) {
  return {
    User: `${userId}:${userId}`,
    Env: ['PATH=/usr/bin:/usr/sbin', 'NODE_ENV=production', `HOME=${home}`],
    Entrypoint: ['/usr/bin/stowage'],
    WorkingDir: home,
    Labels: {
      'org.opencontainers.image.title': 'stowage',
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': license,
    },
  };
}

async function nodeArchive({ node }, { npmCpu }) {
  return await npmPackage(`node-linux-${npmCpu}@${node.version}`, node.integrity[npmCpu]);
}

async function debianArchives({ date, debian }, { architecture }, mirror) {
  const packages = [];
  for (const locked of debian[architecture])
    packages.push({ ...locked, file: await debianPackage(locked, { date, mirror }) });
  return packages;
}

function readOptions() {
  try {
    const string = { type: 'string' };
    const { values } = parseArgs({
      options: { output: string, sbom: string, platform: string, tag: string, 'debian-mirror': string },
    });
    const { output, platform = hostPlatform, tag } = values;
    if (output === undefined) throw new Error('--output is missing; give the file of the image');
    if (!(platform in platforms))
      throw new Error(`--platform ${platform}: must be one of ${Object.keys(platforms).join(', ')}`);
    if (tag !== undefined && !/^[a-z0-9._:/-]+:[\w.-]+$/.test(tag))
      throw new Error(`--tag ${tag}: must be a name and a tag, such as registry.example/stowage:1`);
    const sbom = values.sbom ?? `${output.replace(/\.tar$/, '')}.spdx.json`;
    return { output, sbom, platform, tag, mirror: values['debian-mirror'] };
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}
