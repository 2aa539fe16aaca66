import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../src/apiserver/kinds/built-in-kinds.ts';
import { storedOnlyKinds } from '../src/apiserver/kinds/stored-only-kinds.ts';
import { ownDefinitions } from '../src/embedded/own-definitions.ts';
import { projectRoot } from './project-root.ts';

const page = readFileSync(join(projectRoot, 'docs/limits.md'), 'utf8');

test.each(storedOnlyKinds.flatMap(({ group, kinds }) => kinds.map((kind) => [group, kind] as const)))(
  'the stored-only kind %s %s is served, and docs/limits.md lists it',
  async (group, kind) => {
    const own = (await ownDefinitions()).map(({ spec }) => ({ group: spec.group, kind: spec.names.kind }));
    const served = [...builtInKindCatalog().all, ...own];
    expect(served.some((each) => each.group === group && each.kind === kind)).toBe(true);
    const row = page
      .split('\n')
      .find((line) => line.includes(group === '' ? '| core |' : `| \`${group}\` |`));
    expect(row).toContain(`\`${kind}\``);
  },
);
