import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { realClock } from '../../runtime/clock.ts';
import { afterIfRunning } from '../../runtime/idle-timer.ts';
import { type CompiledCode, readCodeCache, removeOldCodeCaches, writeCodeCache } from './code-cache-file.ts';
import { codeCachePath } from './code-cache-path.ts';

/** A command that still runs after this time has called all code of its start. V8 drops code that is not called for some time. */
const startMaxMs = 10_000;
/** Exit status of wrong usage: a misspelled command needs no cache. */
const usageError = 2;

/** The wrapper that Node adds to a CommonJS file. The prefix is as long as in Node, so that positions in stack traces are right. */
const wrapper = ['(function (exports, require, module, __filename, __dirname) { ', '\n});'] as const;
type Run = (...given: readonly unknown[]) => void;

/**
 * Runs the bundled CommonJS file `main` and returns its exports. The code of functions that an earlier call of the command has compiled comes from
 * the user's cache folder, and what is compiled by this call is saved there.
 */
export function loadProgram(main: string): unknown {
  const cache = codeCachePath(process.argv[2], process.env);
  const program = new BundledProgram(cache === undefined ? new Map() : codeFor(main, readCodeCache(cache)));
  if (cache !== undefined) {
    const save = () => saveOnce(program, cache);
    afterIfRunning(startMaxMs, save);
    process.once('exit', (status) => status !== usageError && save());
  }
  return program.load(main);
}

/** The name of the main file changes with every part of the program: the code of another version is dropped as a whole. */
function codeFor(main: string, cached: CompiledCode): CompiledCode {
  return cached.has(basename(main)) ? cached : new Map();
}

/** Without a place for it there is no cache; the program works the same. */
function saveOnce(program: BundledProgram, path: string): void {
  const code = program.takeNewCode();
  if (code === undefined) return;
  try {
    writeCodeCache(path, code);
    removeOldCodeCaches(dirname(dirname(path)), realClock.nowMs());
  } catch {
    // Only the next start is slower.
  }
}

/** CommonJS files that load each other by relative paths. Everything else comes from Node. */
export class BundledProgram {
  readonly #cached: CompiledCode;
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #scripts = new Map<string, Script>();
  #hasNewScripts = false;

  constructor(cached: CompiledCode) {
    this.#cached = cached;
  }

  load(path: string): unknown {
    const loaded = this.#modules.get(path);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} };
    this.#modules.set(path, module);
    const fromNode = createRequire(path);
    const folder = dirname(path);
    const require = (name: string) => (name.startsWith('.') ? this.load(join(folder, name)) : fromNode(name));
    const run = this.#compiled(path).runInThisContext() as Run;
    run.call(module.exports, module.exports, require, module, path, folder);
    return module.exports;
  }

  /**
   * The code of everything that was called until now, and of scripts that only earlier calls of the command have used. Undefined if the cache
   * had all scripts, and the second time.
   */
  takeNewCode(): CompiledCode | undefined {
    if (!this.#hasNewScripts) return undefined;
    this.#hasNewScripts = false;
    const code = [...this.#scripts].map(([name, script]) => [name, script.createCachedData()] as const);
    return new Map([...this.#cached, ...code]);
  }

  #compiled(path: string): Script {
    const name = basename(path);
    const cachedData = this.#cached.get(name);
    const script = new Script(wrapper.join(readFileSync(path, 'utf8')), {
      filename: path,
      columnOffset: -wrapper[0].length,
      cachedData,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (cachedData === undefined || script.cachedDataRejected) this.#hasNewScripts = true;
    this.#scripts.set(name, script);
    return script;
  }
}
