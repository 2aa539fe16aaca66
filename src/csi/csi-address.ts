/**
 * The path of a driver's socket from the value of a flag: `unix:///run/csi.sock`, or the path alone as CSI sidecars also accept it.
 * `source` names the flag in errors.
 */
export function socketPathOf(address: string, source: string): string {
  const path = address.startsWith(scheme) ? address.slice(scheme.length) : address;
  const problem = problemOf(path, address);
  if (problem !== undefined)
    throw new CsiAddressError(`${source}: invalid value ${JSON.stringify(address)}: ${problem}`);
  return path;
}

/** A CSI address that cannot be used; the message names the flag, its value and the remedy. */
export class CsiAddressError extends Error {
  override readonly name = 'CsiAddressError';
}

const scheme = 'unix://';

/** `sun_path` has 108 bytes on Linux, the last of them 0. A longer path would be cut off without an error. */
const pathBytesMax = 107;

function problemOf(path: string, address: string): string | undefined {
  const expected = 'it must be unix:///path/of/csi.sock or an absolute path';
  if (path === '' || path === '/') return `it names no socket; ${expected}`;
  if (/^unix:(?!\/\/\/)/.test(address)) return `the path is not absolute; ${expected}`;
  if (/^[\w+.-]+:/.test(path)) return `only unix sockets are supported; ${expected}`;
  if (!path.startsWith('/')) return `the path is not absolute; ${expected}`;
  if (path.includes('\0')) return 'the path contains a zero byte; remove it';
  const bytes = Buffer.byteLength(path);
  if (bytes > pathBytesMax) {
    return `the path has ${bytes} bytes, and a socket's path has at most ${pathBytesMax}; use a shorter one`;
  }
  return undefined;
}
