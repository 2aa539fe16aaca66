import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generators, readManifest } from '../../scripts/generate/manifest.mjs';
import { projectRoot } from '../project-root.ts';

const manifest = readManifest(projectRoot);

const hasGo = spawnSync('go', ['version']).status === 0;

test.skipIf(!hasGo).each(generators)(
  'scripts/generate/%s writes the committed files',
  (name) => {
    const paths = Object.keys(manifest[name]!.files);
    const copy = mkdtempSync(join(tmpdir(), 'generated-'));
    try {
      // The generator of vectors reads the files before it writes them.
      for (const path of ['biome.json', ...paths]) cpSync(join(projectRoot, path), join(copy, path));
      execFileSync('go', ['run', '.', copy], { cwd: join(projectRoot, 'scripts/generate', name) });
      execFileSync(
        join(projectRoot, 'node_modules/.bin/biome'),
        ['check', '--write', '--vcs-enabled=false', '.'],
        {
          cwd: copy,
        },
      );
      const differing = paths.filter((path) => text(copy, path) !== text(projectRoot, path));
      expect(differing, `run: npm run generate -- ${name}`).toEqual([]);
    } finally {
      rmSync(copy, { recursive: true });
    }
  },
  600_000,
);

function text(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
