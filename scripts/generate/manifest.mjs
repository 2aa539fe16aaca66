import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/*
 * What was generated, from which sources and from which version of Kubernetes or CSI. `npm run generate` writes it, and
 * `test/generated.test.ts` compares it with the files: so a test without Go finds files that are out of date.
 */

export const manifestPath = 'scripts/generate/manifest.json';

/** Each is a Go command in a folder of this name; `csi` is a Go module of its own. */
export const generators = ['api', 'csi', 'policy', 'vectors'];

export function readManifest(root) {
  const path = `${root}/${manifestPath}`;
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** The hash of the generator's own sources and of the versions of all modules. */
export function sha256OfSources(root, name) {
  const folder = `${root}/scripts/generate`;
  const sources = readdirSync(`${folder}/${name}`).filter((file) => file.endsWith('.go'));
  const hash = createHash('sha256');
  for (const path of [goModOf(name), ...sources.sort().map((file) => `${name}/${file}`)]) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(`${folder}/${path}`))
      .update('\0');
  }
  return hash.digest('hex');
}

export function sha256OfFile(root, path) {
  return createHash('sha256')
    .update(readFileSync(`${root}/${path}`))
    .digest('hex');
}

/** The upstream module that a generator reads, with its version. */
export function upstreamOf(root, name) {
  const module = name === 'csi' ? 'github.com/container-storage-interface/spec' : 'k8s.io/kubernetes';
  const required = readFileSync(`${root}/scripts/generate/${goModOf(name)}`, 'utf8')
    .split('\n')
    .map((line) =>
      line
        .replace(/^require /, '')
        .trim()
        .split(' '),
    );
  return `${module} ${required.find(([path]) => path === module)?.[1] ?? 'unknown'}`;
}

/** CSI has a separate module, because Kubernetes pins an older version of its specification. */
function goModOf(name) {
  return name === 'csi' ? 'csi/go.mod' : 'go.mod';
}
