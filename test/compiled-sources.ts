import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vitest/config';
import { builtProgram } from './built-program.ts';
import { projectRoot } from './project-root.ts';

const sources = join(projectRoot, 'src/');

/**
 * Tests import the compiled form of `src`, which Node loads itself: vitest's own loader replaces each use of an import by a property of an
 * object, and a whole run takes a third longer with it. Test code stays with vitest. A test that replaces modules by `vi.mock` gets the
 * sources, because only vitest's loader can replace a module.
 */
export function compiledSources(): Plugin {
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    resolveId(imported, importer) {
      if (!imported.startsWith('.') || importer === undefined) return;
      const path = resolve(dirname(importer), imported);
      return isSource(path) && usesCompiled(importer) ? builtProgram(pathToFileURL(path)) : undefined;
    },
  };
}

/** What Node loads, and not vitest. */
export const compiledFiles = /\/build\/for-tests\//;

/** Sources that vitest loads were imported by a test that replaces modules, so they import sources too. */
function usesCompiled(importer: string): boolean {
  return !isSource(importer) && !readFileSync(importer, 'utf8').includes('vi.mock(');
}

function isSource(path: string): boolean {
  return path.startsWith(sources) && /\.ts$/.test(path) && !/\.test\.ts$|\/testing\//.test(path);
}
