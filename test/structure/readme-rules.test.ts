import { expect, test } from 'vitest';
import { checkMentionedPaths, checkReadmeTables } from './readme-rules.ts';
import { describeViolation } from './violation.ts';

const head = '# state\n\n| file | what |\n|---|---|\n';

function violationsOf(readme: string): string[] {
  const paths = [
    'feed.ts',
    'feed.test.ts',
    'feed-a.ts',
    'feed-b.ts',
    'index.ts',
    'testing/x.ts',
    'kinds/pod.ts',
  ];
  const files = paths.map((name) => ({ path: `src/state/${name}`, text: '' }));
  return checkReadmeTables([...files, { path: 'src/state/README.md', text: readme }]).map(describeViolation);
}

test.each([
  [
    'a table with everything',
    `${head}| \`feed.ts\`, \`feed-a.ts\`, \`feed-b.ts\` | a |\n| \`kinds/\` | b |\n`,
  ],
  [
    'a table that names several files in one cell',
    `${head}| \`feed.ts\`, \`feed-*.ts\` | a |\n| \`kinds/\` | b |\n`,
  ],
  [
    'a table whose README names the rest',
    `${head}| \`feed*.ts\` | a |\n\n\`kinds/\` is for \`elsewhere.ts\`.\n`,
  ],
  ['a table of the folders', '| folder | what |\n|---|---|\n| `kinds` | a |\n'],
  ['a README without a table', '# state'],
])('%s is correct', (_, readme) => {
  expect(violationsOf(readme)).toEqual([]);
});

test('a missing row is found, and a row for a missing file', () => {
  expect(violationsOf(`${head}| \`feed.ts\`, \`feed-*.ts\` | a |\n| \`gone.ts\` | b |\n`)).toEqual([
    'src/state/README.md:3: kinds is not in the table; add a row that says what it is',
    'src/state/README.md:6: there is no gone.ts; remove it from the table',
  ]);
});

test('a folder that is missing in a table of folders is found', () => {
  expect(violationsOf('| folder | what |\n|---|---|\n| `feed` | a |\n')).toEqual([
    'src/state/README.md:1: kinds is not in the table; add a row that says what it is',
  ]);
});

test('a mention of a file or folder that does not exist is found', () => {
  const text = 'See `src/state/feed.ts`, `src/state/`, `src/state` and\n`src/gone.ts`.';
  const files = [
    { path: 'src/state/feed.ts', text: '' },
    { path: 'docs/a.md', text },
  ];
  expect(checkMentionedPaths(files).map(describeViolation)).toEqual([
    'docs/a.md:2: there is no src/gone.ts; name the file or folder that it is now',
  ]);
});
