/**
 * Draws `docs/pictures/explain.svg`: the output of `stowage explain` for a pod of the demo, as a terminal shows it. Starts the demo, runs
 * the command, and draws its output. Run it again when the output has changed: `npm run picture`.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'dist/cli/main.js');
const columns = 118;
const pod = 'demo/pool-too-small';

const data = mkdtempSync(join(tmpdir(), 'stowage-picture-'));
const demo = spawn(process.execPath, [program, 'up', '--demo', '--data', data, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await ready(demo);
  const text = await explain(join(data, 'kubeconfig'));
  mkdirSync(join(root, 'docs/pictures'), { recursive: true });
  writeFileSync(join(root, 'docs/pictures/explain.svg'), drawn(`$ stowage explain pod ${pod}\n${text}`));
} finally {
  demo.kill('SIGTERM');
  await new Promise((resolve) => demo.once('exit', resolve));
  rmSync(data, { recursive: true, force: true });
}

function ready(child) {
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('export KUBECONFIG=') && resolve());
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code}`)));
  });
}

/** Exit status 3 means that the pod fits nowhere, which the picture should show. */
function explain(kubeconfig) {
  const env = { ...process.env, COLUMNS: String(columns), NO_COLOR: '1' };
  const args = [program, 'explain', 'pod', pod, '--kubeconfig', kubeconfig];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, stdout) => {
      if (error !== null && error.code !== 3) reject(error);
      else resolve(stdout);
    });
  });
}

function drawn(text) {
  const lines = text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapped(line));
  const lineHeight = 18;
  const width = Math.round(columns * 8.05) + 32;
  const height = lines.length * lineHeight + 40;
  const rows = lines.map((line, at) => {
    const fill = line.startsWith('$') ? '#7ee787' : /^[A-Z' -]+(\(|$)/.test(line) ? '#79c0ff' : '#e6edf3';
    return `<text x="16" y="${at * lineHeight + 34}" fill="${fill}" xml:space="preserve">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>What stowage explain says about a pod that fits nowhere</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.4">
${rows.join('\n')}
</g>
</svg>
`;
}

function wrapped(line) {
  if (line.length <= columns) return [line];
  const cut = line.lastIndexOf(' ', columns);
  const indent = ' '.repeat(/^ */.exec(line)[0].length + 2);
  return [line.slice(0, cut), ...wrapped(indent + line.slice(cut + 1))];
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
