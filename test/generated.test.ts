import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  generators,
  readManifest,
  sha256OfFile,
  sha256OfSources,
  upstreamOf,
} from '../scripts/generate/manifest.mjs';
import { projectRoot } from './project-root.ts';

const manifest = readManifest(projectRoot);

test.each(generators)('the files that scripts/generate/%s writes are up to date', (name) => {
  const { upstream, sources, files } = manifest[name]!;
  const stale = Object.entries(files)
    .filter(
      ([path, hash]) => !existsSync(`${projectRoot}/${path}`) || sha256OfFile(projectRoot, path) !== hash,
    )
    .map(([path]) => path);
  const problems = [
    ...(sources === sha256OfSources(projectRoot, name)
      ? []
      : [`the sources of scripts/generate/${name} changed`]),
    ...(upstream === upstreamOf(projectRoot, name) ? [] : [`${upstream} is required in another version`]),
    ...stale.map((path) => `${path} is missing or was changed by hand`),
  ];
  expect(problems, `run: npm run generate -- ${name}`).toEqual([]);
});

test('the generators and the tests with real programs use the same version of Kubernetes', () => {
  const text = readFileSync(`${projectRoot}/test/kubernetes/modules/kubernetes/go.mod`, 'utf8');
  expect(text).toContain(`${upstreamOf(projectRoot, 'api')}\n`);
});
