/**
 * Runs the commands of README and docs in a clean clone, every `sh` block as a reader would, page by page. A comment directly before a
 * block changes that:
 *
 *   <!-- try: background -->   runs until the page ends; an `export NAME=value` that it prints is set for the rest of the page
 *   <!-- try: skip, WHY -->    is not run
 *   <!-- try: status N -->     ends with this status rather than 0
 *
 * It tests what is committed. The last line is `N passed, N failed`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const answerMaxMs = 60_000;

/** The folders of programs that a page may use: from the PATH, or from the cache of `npm run test:kubernetes`. */
const programFolders = new Map(['kubectl', 'helm'].map((name) => [name, folderOf(name)]));

const folder = mkdtempSync(join(tmpdir(), 'stowage-docs-'));
const clone = join(folder, 'stowage');
let passed = 0;
let failed = 0;

process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
console.log(`cloning into ${clone}`);
execFileSync('git', ['clone', '--quiet', root, clone]);

for (const page of pagesOf(clone)) await tryPage(page);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function folderOf(name) {
  const candidates = [...process.env.PATH.split(delimiter), ...builtFolders(name)];
  return candidates.find((candidate) => existsSync(join(candidate, name)));
}

function builtFolders(name) {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'stowage', 'kubernetes', name);
  return existsSync(cache) ? readdirSync(cache).map((fingerprint) => join(cache, fingerprint)) : [];
}

function pagesOf(directory) {
  const docs = readdirSync(join(directory, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => join('docs', name))];
}

async function tryPage(page) {
  const blocks = blocksOf(readFileSync(join(clone, page), 'utf8'));
  const found = [...programFolders.values()].filter((each) => each !== undefined);
  const env = { ...process.env, HOME: folder, PATH: [process.env.PATH, ...found].join(delimiter) };
  const running = [];
  try {
    for (const block of blocks) await tryBlock(page, block, env, running);
  } finally {
    for (const child of running) await ended(child);
  }
}

async function tryBlock(page, { text, directive }, env, running) {
  const title = `${page}: ${text.trim().split('\n')[0]}`;
  if (directive.startsWith('skip')) {
    console.log(`- ${title} (not run${directive.slice('skip'.length)})`);
    return;
  }
  const missing = [...programFolders].find(
    ([name, place]) => place === undefined && new RegExp(`^${name} `, 'm').test(text),
  );
  if (missing !== undefined) {
    console.log(`- ${title} (not run: there is no ${missing[0]} here; npm run test:kubernetes builds one)`);
    return;
  }
  try {
    if (directive === 'background') await begin(text, env, running);
    else run(text, env, Number(/^status (\d+)$/.exec(directive)?.[1] ?? 0));
    passed += 1;
    console.log(`✓ ${title}`);
  } catch (error) {
    failed += 1;
    console.log(`✗ ${title}\n${error.stderr ?? ''}${error.stdout ?? ''}${error.message}`);
  }
}

function run(text, env, status) {
  const { error, ...ended } = spawnSync('bash', ['-euo', 'pipefail', '-c', text], { cwd: clone, env });
  if (error !== undefined) throw error;
  if (ended.status !== status)
    throw Object.assign(new Error(`it ended with status ${ended.status}, not ${status}`), ended);
}

/** Resolves with the first `export` that the command prints. */
function begin(text, env, running) {
  const child = spawn('bash', ['-c', text], { cwd: clone, env, detached: true });
  running.push(child);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it did not answer in time')), answerMaxMs);
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const [, name, value] = /^export (\w+)=(.*)$/m.exec(printed) ?? [];
      if (name === undefined) return;
      clearTimeout(timer);
      env[name] = value;
      resolve();
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`it ended with status ${code}`));
    });
  });
}

function ended(child) {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', resolve);
    process.kill(-child.pid, 'SIGTERM');
  });
}

function blocksOf(markdown) {
  const found = markdown.matchAll(/(?:<!-- try: (.*?) -->\n+)?^```sh\n([\s\S]*?)^```$/gm);
  return [...found].map(([, directive = '', text]) => ({ directive, text }));
}
