import { Command } from 'commander';
import { expect, test } from 'vitest';
import { type CommandTree, commandTree, type Values } from './completion/command-tree.ts';
import { addHeadroom } from './headroom/command.ts';
import { addPlan } from './plan/command.ts';

function program(): Command {
  const root = new Command('stowage');
  addPlan(root);
  addHeadroom(root);
  return root;
}

function valuesOf({ commands }: CommandTree, command: string, flag: string): Values | undefined {
  const { flags } = commands.find(({ path }) => path === command)!;
  return flags.find(({ names }) => names.includes(flag))!.values;
}

test.each([
  ['plan', '--drain', 'node-or-drive'],
  ['plan', '--like', 'node'],
  ['plan', '--add-drive', 'node'],
  ['plan', '--replicas', 'workload'],
  ['plan', '--namespace', 'namespace'],
  ['headroom', '--like', 'stateful-set'],
  ['headroom', '--class', 'class'],
] as const)('%s %s offers names of the cluster', (command, flag, of) => {
  expect(valuesOf(commandTree(program()), command, flag)).toEqual({ kind: 'names', of });
});

test('paths and formats of plan are offered', () => {
  const tree = commandTree(program());
  expect(valuesOf(tree, 'plan', '--apply')).toEqual({ kind: 'file' });
  expect(valuesOf(tree, 'plan', '--changes')).toEqual({ kind: 'file' });
  expect(valuesOf(tree, 'headroom', '--output')).toMatchObject({ kind: 'words' });
});
