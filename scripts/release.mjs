/**
 * `npm run release -- --output DIR [--draft]`: everything that a release publishes, in one folder: the package, the images with their SBOMs, the chart,
 * the definitions, the plain manifests, the archives of the kubectl plugin with the manifest for Krew, and the hashes of all of them.
 * It publishes nothing. With `--draft`, problems are printed and do not stop it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { releaseProblems } from './release-problems.mjs';

const project = fileURLToPath(new URL('..', import.meta.url));
const usage = 'usage: npm run release -- --output DIR [--draft]';
const { output, isDraft } = readOptions();
const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));

const problems = [...releaseProblems(project), ...auditProblems()];
for (const problem of problems) console.error(problem);
if (problems.length > 0 && !isDraft) {
  console.error('Nothing was made. --draft makes it in spite of this, to try it.');
  process.exit(1);
}

mkdirSync(output, { recursive: true });
run('npm', 'pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', output);
for (const architecture of ['amd64', 'arm64'])
  script(
    'image/main.mjs',
    ...['--platform', `linux/${architecture}`],
    ...['--output', join(output, `stowage-image-${version}-linux-${architecture}.tar`)],
  );
script('krew.mjs', '--output', output);
// The chart has the name that Helm expects, which is that of the package too.
script('chart.mjs', '--output', join(output, 'chart'));
const manifests = readdirSync(join(project, 'deploy')).filter((name) => name.endsWith('.yaml'));
run(
  'tar',
  '-C',
  project,
  '-czf',
  join(output, `stowage-manifests-${version}.tar.gz`),
  'deploy/crds',
  ...manifests.map((name) => `deploy/${name}`),
);
await writeHashes();
console.log(`${output}: ${version}${isDraft ? ', a draft' : ''}. CONTRIBUTING.md says what to do with it.`);

function script(name, ...args) {
  run(process.execPath, join(project, 'scripts', name), ...args);
}

function run(program, ...args) {
  execFileSync(program, args, { cwd: project, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** npm knows them; some mirrors of the registry do not answer. */
function auditProblems() {
  const { status } = spawnSync('npm', ['run', '--silent', 'check:audit'], {
    cwd: project,
    stdio: ['ignore', 2, 2],
  });
  return status === 0
    ? []
    : [
        'npm audit knows of vulnerabilities in what we ship, or did not answer; update the packages, or use the registry of npm',
      ];
}

async function writeHashes() {
  const names = readdirSync(output, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'SHA256SUMS')
    .map((entry) => join(entry.parentPath, entry.name).slice(output.length + 1))
    .sort();
  const lines = [];
  for (const name of names) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(output, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  writeFileSync(join(output, 'SHA256SUMS'), lines.join(''));
}

function readOptions() {
  try {
    const { values } = parseArgs({ options: { output: { type: 'string' }, draft: { type: 'boolean' } } });
    if (values.output === undefined) throw new Error('--output is missing; give the folder for the files');
    return { output: resolve(values.output), isDraft: values.draft === true };
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}
