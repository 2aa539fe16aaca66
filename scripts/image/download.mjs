/** Inputs of the image, verified by their hashes. They are kept in a cache that is named after those hashes, so that a second build is offline. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'stowage', 'image');
const triesMax = 4;

/** The path of a Debian package. A mirror has the newest version only; snapshot.debian.org has every one. */
export async function debianPackage({ name, url, sha256 }, { date, mirror }) {
  const urls = [mirror === undefined ? url : onMirror(url, mirror), snapshotUrl(url, date)];
  return await cached(`${sha256}.deb`, async () => {
    const problems = [];
    for (const candidate of urls) {
      try {
        const content = await fetched(candidate);
        const found = createHash('sha256').update(content).digest('hex');
        if (found === sha256) return content;
        problems.push(`${candidate} has the SHA-256 ${found}`);
      } catch (error) {
        problems.push(`${candidate}: ${error.message}`);
      }
    }
    const text = `package ${name} with the SHA-256 ${sha256} was not found: ${problems.join('; ')}`;
    throw new Error(`${text}. Run npm run image:lock for the newest versions`);
  });
}

/** The path of a package of the npm registry; npm downloads it, with the user's registry and credentials. */
export async function npmPackage(specifier, integrity) {
  const [algorithm, expected] = integrity.split(/-(.*)/s);
  return await cached(`${Buffer.from(expected, 'base64').toString('hex')}.tgz`, async () => {
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, 'draft-'));
    try {
      const args = ['pack', specifier, '--pack-destination', folder, '--json', '--ignore-scripts'];
      const [{ filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }));
      const content = readFileSync(join(folder, filename));
      const found = createHash(algorithm).update(content).digest('base64');
      if (found !== expected)
        throw new Error(`${specifier} has the integrity ${algorithm}-${found}, not ${integrity}`);
      return content;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** A file appears in the cache by a rename, so that no other build finds half of it. */
async function cached(name, load) {
  const path = join(cache, name);
  if (existsSync(path)) return path;
  const content = await load();
  mkdirSync(cache, { recursive: true });
  const draft = join(cache, `${name}.${process.pid}`);
  writeFileSync(draft, content);
  renameSync(draft, path);
  return path;
}

async function fetched(url) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`status ${response.status}`);
      return Buffer.from(await response.arrayBuffer());
    } catch (error) {
      // A package that the mirror does not have is not there the next time either.
      if (attempt === triesMax || error.message === 'status 404') throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * attempt));
    }
  }
}

/** Such as `http://deb.debian.org/debian/pool/...` on `https://mirror.example/debian`. */
function onMirror(url, mirror) {
  const [, archive, path] = /^https?:\/\/[^/]+\/(debian(?:-security)?)\/(.*)$/.exec(url);
  return `${mirror.replace(/\/$/, '')}/${archive}/${path}`;
}

function snapshotUrl(url, date) {
  return onMirror(url, 'https://snapshot.debian.org/archive').replace(
    /\/archive\/([^/]+)\//,
    (_, archive) => `/archive/${archive}/${date.replaceAll(/[-:]/g, '')}/`,
  );
}
