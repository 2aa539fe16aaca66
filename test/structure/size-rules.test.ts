import { expect, test } from 'vitest';
import { checkSizes, filesPerFolderMax, linesMax } from './size-rules.ts';
import { readSources } from './testing/made-up-sources.ts';
import { describeViolation } from './violation.ts';

const files = (folder: string, count: number, suffix = '.ts') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/f${index}${suffix}`, '']));
const lines = (count: number) => 'export {};\n'.repeat(count);

test('long files and full folders are found; tests and generated files do not count', () => {
  const sources = readSources({
    ...files('src/engine/full', filesPerFolderMax),
    ...files('src/engine/full', 5, '.test.ts'),
    ...files('src/engine/over', filesPerFolderMax + 1),
    ...files('src/engine/generated', filesPerFolderMax + 1),
    'src/csi/long.ts': lines(linesMax + 1),
    'src/csi/full.ts': lines(linesMax),
    'src/csi/generated/csi.ts': lines(9_000),
  });
  expect(checkSizes(sources, {}).map(({ file }) => file)).toEqual(['src/csi/long.ts', 'src/engine/over']);
});

test('a large file may be named with a reason, for as long as it is large', () => {
  const sources = readSources({ 'src/csi/long.ts': lines(linesMax + 1), 'src/csi/short.ts': lines(1) });
  const onPurpose = { 'src/csi/long.ts': 'one table', 'src/csi/short.ts': 'was long' };
  expect(checkSizes(sources, onPurpose).map(describeViolation)).toEqual([
    'src/csi/short.ts:1: it is not large any more; remove it from test/structure/large-on-purpose.ts',
  ]);
});
