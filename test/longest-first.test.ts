import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longestFiles } from './longest-first.ts';
import { projectRoot } from './project-root.ts';

test('every file that is started first exists', () => {
  expect(longestFiles.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
});
