import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/*
 * What was generated, from which sources and for which version of Kubernetes. `npm run generate` writes it, and
 * `test/generated.test.ts` compares it with the files: so a test without Go finds files that are out of date.
 */

export const manifestPath = 'scripts/generate/manifest.json';

/** Each is a Go command in a folder of this name. */
export const generators = ['api', 'policy', 'vectors'];

export function readManifest(root) {
  const path = `${root}/${manifestPath}`;
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** Of the generator's own sources and of the versions of all modules. */
export function sha256OfSources(root, name) {
  const folder = `${root}/scripts/generate`;
  const sources = readdirSync(`${folder}/${name}`).filter((file) => file.endsWith('.go'));
  const hash = createHash('sha256');
  for (const path of ['go.mod', ...sources.sort().map((file) => `${name}/${file}`)]) {
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

export function kubernetesVersion(root) {
  const text = readFileSync(`${root}/scripts/generate/go.mod`, 'utf8');
  return /^(?:require)?\s*k8s\.io\/kubernetes (v\S+)/m.exec(text)?.[1] ?? 'unknown';
}
