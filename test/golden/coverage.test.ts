import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import { everyCommand } from './every-command.ts';

const page = readFileSync(join(projectRoot, 'docs/commands.md'), 'utf8');
/** The text of each command on the page, by its name. */
const sections = new Map(
  page.split(/^### stowage /m).flatMap((text, at) => (at === 0 ? [] : [[text.split('\n')[0] ?? '', text]])),
);
/** Without groups of commands, such as `drives`. */
const names = [...sections.keys()].filter(
  (name) => ![...sections.keys()].some((other) => other.startsWith(`${name} `)),
);

const folder = join(import.meta.dirname, 'files');
const files = new Map(
  readdirSync(folder).map((file) => [file.replace(/\.txt$/, ''), readFileSync(join(folder, file), 'utf8')]),
);

/** Whether one of these transcripts has a call of the command. */
function isIn(name: string, ...transcripts: readonly string[]): boolean {
  return transcripts.some((one) =>
    `\n${files.get(one)}`.replaceAll('\n', ' \n').includes(`\n$ stowage ${name} `),
  );
}

test('every command of the documentation is called', () => {
  expect(names.length).toBeGreaterThan(30);
  expect([...new Set(everyCommand.map(({ name }) => name))].sort()).toEqual(names.toSorted());
});

test('every command has its transcripts', () => {
  const missing = names.flatMap((name) => {
    const command = everyCommand.find((one) => one.name === name);
    if (command?.isAlone === true) return isIn(name, 'alone') ? [] : [`${name}: alone`];
    if (command?.stays === true) return isIn(name, 'no-kubeconfig') ? [] : [`${name}: no-kubeconfig`];
    const hasFormats = sections.get(name)?.includes('--output <format>') === true;
    const groups = [
      ['empty'],
      ['no-rights'],
      ['no-kubeconfig'],
      ['narrow', 'changes-narrow'],
      ...(hasFormats ? [['wide', 'changes-wide']] : []),
    ];
    return groups.filter((group) => !isIn(name, ...group)).map((group) => `${name}: ${group.join(' or ')}`);
  });
  expect(missing).toEqual([]);
});
