import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';

/**
 * The file with the compiled code of a command: `~/.cache/stowage/code/TAG/COMMAND.bin`, or below XDG_CACHE_HOME. Undefined if there is no
 * such folder, or if `NODE_DISABLE_COMPILE_CACHE`, which does the same for Node's own cache, is set.
 */
export function codeCachePath(
  command: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const caches = cacheFolder(env);
  // V8 accepts code only of its own version, made with the same flags. Its tag says which, except for the version of Node.
  const tag = `${process.version}-${process.arch}-${cachedDataVersionTag().toString(16)}`;
  return caches && join(caches, 'stowage', 'code', tag, `${fileNameOf(command)}.bin`);
}

/** Each command compiles other functions. */
function fileNameOf(command = ''): string {
  return /^[a-z][a-z-]{0,30}$/.test(command) ? command : 'other';
}

/** A relative XDG_CACHE_HOME is ignored, as its specification demands. */
function cacheFolder({
  XDG_CACHE_HOME = '',
}: Readonly<Record<string, string | undefined>>): string | undefined {
  if (isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  try {
    return join(homedir(), '.cache');
  } catch {
    // A user without an entry in /etc/passwd, as in a container, has no home.
    return undefined;
  }
}
