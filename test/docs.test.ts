import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { obstacles } from '../src/engine/rules/framework/finding.ts';
import { nodeReasons, podReasons, type ReasonText } from '../src/engine/rules/reasons.ts';
import { builtProgram } from './built-program.ts';

const root = join(import.meta.dirname, '..');

describe('the page of refusal reasons', () => {
  // `npx vitest run docs -u` updates the page.
  test('equals the catalogue', async () => {
    await expect(reasonsPage()).toMatchFileSnapshot(join(root, 'docs/reasons.md'));
  });
});

describe.each([
  ['engine', 'first.mjs'],
  ['queries', 'ask.mjs'],
])('the page of the library %s', (library, file) => {
  const page = readFileSync(join(root, `docs/${library}.md`), 'utf8');

  test('has an example that prints the documented output', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-library-page-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const index = new URL(`../src/${library}/index.ts`, import.meta.url);
    const example = readFileSync(join(root, 'examples', file), 'utf8');
    expect(block(page, 'js')).toBe(example);
    writeFileSync(
      join(folder, file),
      example.replace(`stowage/${library}`, pathToFileURL(builtProgram(index)).href),
    );
    const printed = execFileSync(process.execPath, [join(folder, file)], { encoding: 'utf8' });
    expect(printed).toBe(block(page, ''));
  });
});

describe('the README', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');

  test('names only existing commands', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

/** The first fenced block of a language. */
function block(markdown: string, language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(
    blocksOnly(markdown, language),
  );
  return found?.[1] ?? '';
}

/** A fence without a language may also end a block; so fences are matched in pairs. */
function blocksOnly(markdown: string, language: string): string {
  const blocks = markdown.match(/^```[\s\S]*?^```$/gm) ?? [];
  return blocks.filter((text) => text.startsWith(`\`\`\`${language}\n`)).join('\n');
}

function reasonsPage(): string {
  return [
    '# Reasons',
    '',
    'Why a pod does not fit, and what helps. The codes are stable. This page is made from the catalogue in the code.',
    '',
    '## For a node',
    '',
    ...reasonRows(nodeReasons),
    '',
    '## For the pod, wherever it would run',
    '',
    ...reasonRows(podReasons),
    '',
    '## Obstacles of a single volume or pool',
    '',
    '| code | meaning |',
    '|---|---|',
    ...Object.entries(obstacles).map(([code, sentence]) => `| \`${code}\` | ${sentence} |`),
    '',
  ].join('\n');
}

function reasonRows(reasons: Readonly<Record<string, ReasonText>>): string[] {
  return [
    "| code | meaning | kube-scheduler's message | remedy |",
    '|---|---|---|---|',
    ...Object.entries(reasons).map(
      ([code, { sentence, upstream, remedy }]) => `| \`${code}\` | ${sentence} | ${upstream} | ${remedy} |`,
    ),
  ];
}
