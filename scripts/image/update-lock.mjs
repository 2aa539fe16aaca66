/**
 * `npm run image:lock`: writes `lock.json` again, with the newest versions of the Debian packages and with the hashes of the version of Node
 * that `contents.mjs` names. apt verifies the signatures of Debian's indexes; it runs with folders of its own and changes nothing on this
 * machine. Debian's keys are needed (package debian-archive-keyring).
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debian, debianPackages, nodeVersion, platforms } from './contents.mjs';
import { lockFile } from './lock.mjs';

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

const lock = {
  // The time of all files in the image; also the time at which packages that mirrors no longer have were there, for snapshot.debian.org.
  date: new Date().toISOString().replace(/\.\d+/, ''),
  node: { version: nodeVersion, integrity: {} },
  debian: {},
};
for (const { architecture, npmCpu } of Object.values(platforms)) {
  lock.node.integrity[npmCpu] = npmIntegrity(`node-linux-${npmCpu}@${nodeVersion}`);
  lock.debian[architecture] = debianUrls(architecture);
}
writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`);

function npmIntegrity(specifier) {
  const output = execFileSync('npm', ['view', specifier, 'dist.integrity', '--json'], { encoding: 'utf8' });
  return JSON.parse(output);
}

function debianUrls(architecture) {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-image-lock-'));
  try {
    const apt = aptFor(architecture, folder);
    apt('update', '-qq');
    return apt('download', '--print-uris', ...debianPackages)
      .trim()
      .split('\n')
      .map(toLockedPackage)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function aptFor(architecture, folder) {
  for (const name of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, name), { recursive: true });
  const list = join(folder, 'sources.list');
  const lines = debian.sources.map(
    ({ mirror, suite }) => `deb [signed-by=${keyring}] ${mirror} ${suite} main`,
  );
  writeFileSync(list, `${lines.join('\n')}\n`);
  const settings = {
    'Dir::Etc::SourceList': list,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(folder, 'cache'),
    'APT::Architecture': architecture,
    'APT::Architectures::': architecture,
    // Translations and descriptions for graphical programs are not read.
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'APT::Sandbox::User': 'root',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  return (...args) => execFileSync('apt-get', [...flags, ...args], { encoding: 'utf8' });
}

/** From a line such as `'http://.../libc6_2.41-12%2bdeb13u4_arm64.deb' libc6_2.41-12+deb13u4_arm64.deb 2483572 SHA256:8784...`. */
function toLockedPackage(line) {
  const [, url, file, sha256] = /^'([^']+)' (\S+) \d+ SHA256:([0-9a-f]{64})$/.exec(line) ?? [];
  if (url === undefined) throw new Error(`unexpected output of apt-get download --print-uris: ${line}`);
  const [name, version] = file.split('_');
  return { name, version: decodeURIComponent(version), url, sha256 };
}
