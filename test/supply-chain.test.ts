import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { versionTexts } from '../scripts/release-problems.mjs';
import { projectRoot } from './project-root.ts';

interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
}

const manifest = JSON.parse(read('package.json'));

test('every dependency is pinned, and its content too', () => {
  const asked = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(asked.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version as string))).toEqual([]);
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const locked = Object.entries(packages).filter(([path]) => path !== '');
  expect(locked.length).toBeGreaterThan(100);
  // The lock file names no registry, so that mirrors work: the hash of each package is what counts, on every platform.
  for (const [path, { resolved = 'https://registry.npmjs.org/' }] of locked)
    expect(resolved, path).toMatch(/^https:\/\/registry\.npmjs\.org\//);
  const unhashed = locked.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'));
  expect(unhashed.map(([path]) => path)).toEqual([]);
});

test('the image has the dependencies of the lock file', () => {
  const file = read('deploy/Containerfile');
  expect(file).toMatch(/^COPY .*package-lock\.json/m);
  expect(file).toMatch(/npm ci --omit=dev/);
  expect(file).not.toMatch(/npm install/);
});

test("Krew's manifest is of this version, and names the program", () => {
  const { apiVersion, kind, metadata, spec } = parse(read('deploy/krew/stowage.yaml'));
  expect({ apiVersion, kind, metadata, version: spec.version }).toEqual({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'stowage' },
    version: `v${manifest.version}`,
  });
  // kubectl finds the plugin by the name of its file.
  expect(manifest.bin[`kubectl-${metadata.name}`]).toBe(manifest.bin.stowage);
  // Krew's own limits: a line in its list, and platforms that do not overlap.
  expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
  const platforms = spec.platforms.map(({ selector }: { selector: { matchLabels: object } }) =>
    Object.values(selector.matchLabels).join('-'),
  );
  expect(new Set(platforms).size).toBe(platforms.length);
  for (const [at, platform] of platforms.entries()) {
    const { uri, sha256, bin } = spec.platforms[at];
    expect(uri).toMatch(
      new RegExp(`^https://.*/v${manifest.version}/kubectl-stowage-${platform}\\.tar\\.gz$`),
    );
    // The archives of a release have hashes; `npm run krew` writes them.
    expect({ sha256, bin }).toEqual({ sha256: '', bin: manifest.bin.stowage });
  }
});

test('every file that names the version has that of package.json', () => {
  // The changelog gets its section with the release.
  const expected = versionTexts(manifest.version).filter(([path]) => path !== 'CHANGELOG.md');
  expect(expected.length).toBeGreaterThan(5);
  expect(expected.filter(([path, text]) => !read(path).includes(text))).toEqual([]);
});

function read(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}
