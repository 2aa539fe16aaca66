import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { headroomCommand } from '../headroom/headroom-command.ts';
import { readChangesFile } from './changes-file.ts';
import { planCommand } from './plan-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'stowage-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const podsOnly = () => file('pods.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n');
const output = 'table';

test('without nodes there is no prediction', async () => {
  const from = [podsOnly()];
  const message = `there is no node in ${from[0]}; add the output of kubectl get nodes -o yaml`;
  await expect(planCommand({ from, drain: ['node/n1'], output })).rejects.toThrow(message);
  await expect(headroomCommand({ from, size: '10Gi', output })).rejects.toThrow(message);
});

test('without a cluster the remedy is named', async () => {
  const kubeconfig = join(folder, 'missing');
  await expect(planCommand({ kubeconfig, drain: ['node/n1'], output })).rejects.toThrow(/--kubeconfig/);
  await expect(headroomCommand({ kubeconfig, size: '10Gi', output })).rejects.toThrow(/--kubeconfig/);
});

test.each([
  [{}, 'say what changes: --drain'],
  [{ drain: ['node/n1'], profile: 'other' }, '--profile: "other" must be stowage or upstream'],
  [{ apply: ['/nowhere.yaml'] }, '/nowhere.yaml: does not exist'],
])('wrong usage is reported before a cluster is read: %j', async (flags, message) => {
  await expect(planCommand({ ...flags, output })).rejects.toThrow(message);
});

test.each([
  [{ size: 'large' }, '--size: "large" must be a size such as 10Gi'],
  [{ size: '1Gi', max: '0' }, '--max: "0" must be a whole number from 1 to 1000000'],
  [{ size: '1Gi', like: 'sts/a', class: 'b' }, '--like and --class: use one of them'],
  [{ size: '1Gi', from: ['x'], watch: true }, '--watch: files do not change'],
])('wrong usage of headroom: %j', async (flags, message) => {
  await expect(headroomCommand({ ...flags, output })).rejects.toThrow(message);
});

test('changes from a file have the names of the flags', () => {
  const path = file(
    'changes.yaml',
    '- drain: node/n1\n- addNodes: 2\n  like: n2\n- replicas: sts/db=3\n- apply: new.yaml\n',
  );
  expect(readChangesFile(path)).toEqual([
    { drain: ['node/n1'] },
    { addNodes: '2', like: 'n2' },
    { replicas: ['sts/db=3'] },
    { apply: ['new.yaml'] },
  ]);
});

test.each([
  ['drain: node/n1\n', 'must be a list'],
  ['- n1\n', 'entry 1: must be an object with one of drain'],
  ['- delete: n1\n', 'entry 1: delete is unknown'],
  ['- drain: [n1]\n', 'entry 1: drain: must be a text or a number'],
  ['- a: b: c\n', 'is not valid YAML'],
])('a wrong file of changes names the entry: %j', (text, message) => {
  expect(() => readChangesFile(file('wrong.yaml', text))).toThrow(message);
});
