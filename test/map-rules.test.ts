import { expect, test } from 'vitest';
import { describeViolation } from './house-rules.ts';
import { checkMaps } from './map-rules.ts';

const head = '# state\n\n| file | what |\n|---|---|\n';

function told(readme: string): string[] {
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
  return checkMaps([...files, { path: 'src/state/README.md', text: readme }]).map(describeViolation);
}

test.each([
  ['a map with everything', `${head}| \`feed.ts\`, \`feed-a.ts\`, \`feed-b.ts\` | a |\n| \`kinds/\` | b |\n`],
  ['a map that names several at once', `${head}| \`feed.ts\`, \`feed-*.ts\` | a |\n| \`kinds/\` | b |\n`],
  ['a map whose text names the rest', `${head}| \`feed*.ts\` | a |\n\n\`kinds/\` is for \`elsewhere.ts\`.\n`],
  ['a map of the folders', '| folder | what |\n|---|---|\n| `kinds` | a |\n'],
  ['a README without a map', '# state'],
])('%s is left alone', (_, readme) => {
  expect(told(readme)).toEqual([]);
});

test('what is not on a map is found, and what is on it and not there', () => {
  expect(told(`${head}| \`feed.ts\`, \`feed-*.ts\` | a |\n| \`gone.ts\` | b |\n`)).toEqual([
    'src/state/README.md:3: kinds is not on the map; say in the table what it is',
    'src/state/README.md:6: there is no gone.ts; take it off the map',
  ]);
});

test('a folder that is not on a map of folders is found', () => {
  expect(told('| folder | what |\n|---|---|\n| `feed` | a |\n')).toEqual([
    'src/state/README.md:1: kinds is not on the map; say in the table what it is',
  ]);
});
