import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtProgram } from '../../built-program.ts';
import { projectRoot } from '../../project-root.ts';

export interface OtherVersion {
  /** The path of its `main.js`. */
  readonly program: string;
  readonly version: string;
}

/**
 * The program as another version: a copy of the build under test that calls itself by this version, or the build of a release whose package is
 * in the folder `STOWAGE_UPGRADE_FROM`.
 */
export function otherVersion(version: string): OtherVersion {
  const released = process.env.STOWAGE_UPGRADE_FROM;
  if (released !== undefined) {
    const manifest = JSON.parse(readFileSync(join(released, 'package.json'), 'utf8'));
    return { program: join(released, 'dist/cli/main.js'), version: manifest.version };
  }
  const folder = mkdtempSync(join(tmpdir(), 'stowage-version-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const built = dirname(builtProgram(new URL('../../../src/index.ts', import.meta.url)));
  cpSync(built, join(folder, 'dist'), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  for (const name of ['node_modules', 'deploy']) symlinkSync(join(projectRoot, name), join(folder, name));
  return { program: join(folder, 'dist/cli/main.js'), version };
}
