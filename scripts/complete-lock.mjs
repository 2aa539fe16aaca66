/**
 * Completes package-lock.json after `npm install` on a machine whose registry doesn't have the binaries of every platform.
 *
 * npm leaves optional packages that it couldn't find out of the lock, and `npm ci` then rejects the lock as incomplete, on every platform.
 * The version of an optional package is pinned by the package that requires it, and its name contains the platform. Then every entry
 * without a hash gets that of the registry: npm would install such a package with any content. Run it as `npm run lock`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const systems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'aix',
  'win32',
];
const processors = [
  'arm64',
  'arm',
  'x64',
  'ia32',
  'ppc64',
  'riscv64',
  's390x',
  'loong64',
  'mips64el',
  'wasm32',
];

let added = 0;
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (lock.packages[path] !== undefined) continue;
    lock.packages[path] = { version, ...platformOf(name), ...(entry.dev && { dev: true }), optional: true };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const missing = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.integrity !== undefined) continue;
  const { version, ...rest } = entry;
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const integrity = await hashOf(name, version);
  if (integrity === undefined) missing.push(`${name}@${version}`);
  else lock.packages[path] = { version, integrity, ...rest };
}
writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
console.log(`${added} entries added`);
if (missing.length > 0) {
  console.error(`the registry of npm has no hash of ${missing.join(', ')}; use another registry`);
  process.exitCode = 1;
}

/** Undefined if the registry does not have the package. */
async function hashOf(name, version) {
  const response = await fetch(new URL(name.replace('/', '%2f'), registry));
  const { versions } = response.ok ? await response.json() : {};
  const integrity = versions?.[version]?.dist.integrity;
  return integrity?.startsWith('sha512-') ? integrity : undefined;
}

function platformOf(name) {
  const parts = name.split(/[-/]/);
  const os = systems.filter((system) => parts.includes(system));
  const cpu = processors.filter((processor) => parts.includes(processor));
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }) };
}
