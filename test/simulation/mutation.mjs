import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The source of the bug's file with the bug in it. Throws unless the text to replace occurs exactly once. */
export function mutatedSource(root, { name, file, find, replace }) {
  const source = readFileSync(join(root, file), 'utf8');
  const count = source.split(find).length - 1;
  if (count !== 1)
    throw new Error(`planted bug "${name}": the text to replace occurs ${count} times in ${file}`);
  if (find === replace) throw new Error(`planted bug "${name}" changes nothing`);
  return source.replace(find, () => replace);
}

/**
 * Compiles the mutated files into a folder, without checking types, and returns the path of each. Throws if one of them cannot be
 * parsed. One call of the compiler for all of them: starting it takes longer than compiling.
 */
export function compileMutations(root, bugs, folder) {
  const sources = join(folder, 'sources');
  const outDir = join(folder, 'compiled');
  mkdirSync(sources, { recursive: true });
  bugs.forEach((bug, at) => {
    writeFileSync(join(sources, `bug-${at}.ts`), mutatedSource(root, bug));
  });
  const config = join(folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify(compilerConfig(sources, outDir)));
  compile(config);
  return bugs.map((_, at) => join(outDir, `bug-${at}.js`));
}

/** As in tsconfig.json, for single files: imports are rewritten and not followed. */
function compilerConfig(sources, outDir) {
  return {
    compilerOptions: {
      target: 'es2023',
      lib: ['es2023'],
      module: 'esnext',
      moduleResolution: 'bundler',
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
      noCheck: true,
      noResolve: true,
      types: [],
      rootDir: sources,
      outDir,
    },
    include: [sources],
  };
}

function compile(config) {
  const require = createRequire(import.meta.url);
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  try {
    execFileSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`a planted bug does not compile:\n${error.stdout}`);
  }
}
