import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './project-root.ts';

const page = readFileSync(join(projectRoot, 'docs/storage-capacity-proposal.md'), 'utf8');
const shortNames: Readonly<Record<string, string>> = {
  proposal: 'controllers/lifecycle/storage-capacity-proposal.test.ts',
  inline: 'controllers/lifecycle/inline-volumes-proposal.test.ts',
  pools: 'engine/rules/volume-binding/driver-pools.test.ts',
  size: 'apiserver/server/inline-volume-size.test.ts',
};
const rows = [...page.matchAll(/^\| (.+?) \| `([^`]+)` \| (.*?) ?\|$/gm)].map(
  ([, sentence, file, title]) => ({
    sentence: sentence!,
    file: file!,
    title: title!,
  }),
);

test('the page of the storage-capacity proposal has a row for each thing that it asks for', () => {
  expect(rows.length).toBeGreaterThan(45);
});

test.each(rows)('the storage-capacity proposal: $sentence', ({ file, title }) => {
  const path = shortNames[file] ?? file;
  const source = readFileSync(join(projectRoot, path.startsWith('test/') ? '' : 'src', path), 'utf8');
  expect(source).toContain(title);
});
