import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { viewOf } from '../queries/testing/cluster-views.ts';
import { headroomCommand } from './headroom/run.ts';
import { readChangesFile } from './plan/changes-file.ts';
import { checkApplied } from './plan/check-applied.ts';
import { planCommand } from './plan/run.ts';

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
  await expect(headroomCommand({ from, output })).rejects.toThrow(message);
});

test('without a cluster the remedy is named', async () => {
  const kubeconfig = join(folder, 'missing');
  await expect(planCommand({ kubeconfig, drain: ['node/n1'], output })).rejects.toThrow(/--kubeconfig/);
  await expect(headroomCommand({ kubeconfig, output })).rejects.toThrow(/--kubeconfig/);
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
  [{ like: 'sts/a', class: 'b' }, '--like and --class: use one of them'],
  [{ size: '1Gi', like: 'sts/a' }, '--like and --size: use one of them'],
  [{ from: ['x'], watch: true }, '--watch: files do not change'],
])('wrong usage of headroom: %j', async (flags, message) => {
  await expect(headroomCommand({ ...flags, output })).rejects.toThrow(message);
});

test('changes from a file have the names of the flags', () => {
  const path = file(
    'changes.yaml',
    '- drain: node/n1\n- addNodes: 2\n  like: n2\n- replicas: sts/db=3\n- apply: new.yaml\n',
  );
  expect(readChangesFile(path)).toEqual([
    { drain: ['node/n1'], where: `${path}: entry 1` },
    { addNodes: '2', like: 'n2', where: `${path}: entry 2` },
    { replicas: ['sts/db=3'], where: `${path}: entry 3` },
    { apply: ['new.yaml'], where: `${path}: entry 4` },
  ]);
});

test.each([
  ['drain: node/n1\n', 'must be a list'],
  ['- n1\n', 'entry 1: must be an object with one of drain'],
  ['- {}\n', 'entry 1: must be an object with one of drain'],
  ['[]\n---\n[]\n', 'wrong.yaml: has 2 documents; it must have one'],
  ['- a\0b\n', 'wrong.yaml: is a binary file; it must be YAML or JSON'],
  ['- delete: n1\n', 'entry 1: delete is unknown'],
  ['- drain: [n1]\n', 'entry 1: drain: must be a text or a number'],
  ['- a: b: c\n', 'is not valid YAML'],
])('a wrong file of changes names the entry: %j', (text, message) => {
  expect(() => readChangesFile(file('wrong.yaml', text))).toThrow(message);
});

test.each([
  ['- addNodes: 3\n', 'entry 1: addNodes: like is missing'],
  ['- drain: node/n1\n- addDrive: n1=2Q\n', 'entry 2: addDrive: "n1=2Q" must be NODE=SIZE'],
  ['- replicas: 7\n', 'entry 1: replicas: "7" must be KIND/NAME=COUNT'],
])('a wrong value in a file of changes names the entry and its key: %j', async (text, message) => {
  const changes = file('wrong-value.yaml', text);
  await expect(planCommand({ changes, output })).rejects.toThrow(`${changes}: ${message}`);
});

const node = () => file('node.yaml', 'apiVersion: v1\nkind: Node\nmetadata: { name: n1 }\n');

test.each([
  ['kind: Pod\nmetadata: {}', 'Pod without a name: metadata.name: is missing'],
  ['kind: Pod\nmetadata: { name: a }', 'Pod "a" is invalid: spec.containers: Required value'],
  [
    'kind: Pod\nmetadata: { name: A_B }\nspec: { containers: [{ name: c, image: i }] }',
    'Pod "A_B" is invalid: metadata.name: Invalid value: "A_B"',
  ],
  [
    'kind: Pod\nmetadata: { name: a }\nspec: { containers: [{ name: c, image: i, resources: { requests: { cpu: lots } } }] }',
    'Pod "a" cannot be read: spec.containers[0].resources.requests.cpu: quantities must match',
  ],
  [
    'kind: Pod\nmetadata: { name: a }\nspec: { containers: none }',
    'Pod "a" cannot be read: spec.containers: json: cannot unmarshal string',
  ],
  [
    'kind: PersistentVolumeClaim\nmetadata: { name: c }\nspec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: -1Gi } } }',
    'PersistentVolumeClaim "c" is invalid: spec.resources[storage]: Invalid value: "-1Gi"',
  ],
])('an object that an API server would refuse is not planned for: %j', async (text, message) => {
  const apply = [file('refused.yaml', `apiVersion: v1\n${text}\n`)];
  await expect(planCommand({ from: [node()], apply, output })).rejects.toThrow(message);
});

test('a file may have a part of an object that exists', () => {
  const part = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', namespace: 'default' } };
  const whole = viewOf({ StatefulSet: [{ metadata: part.metadata }] }).snapshot;
  expect(() => checkApplied([part], whole, 0)).not.toThrow();
  expect(() => checkApplied([part], viewOf({}).snapshot, 0)).toThrow(
    '"db" is invalid: [spec.selector: Required',
  );
  const deployment = { ...part, kind: 'Deployment' };
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'db', uid: '1' }];
  const replicaSet = { metadata: { name: 'db-1', namespace: 'default', ownerReferences } };
  expect(() => checkApplied([deployment], viewOf({ ReplicaSet: [replicaSet] }).snapshot, 0)).not.toThrow();
  expect(() => checkApplied([deployment], whole, 0)).toThrow('"db" is invalid: [spec.selector: Required');
});

test('files may have YAML in flow style, which begins like JSON', () => {
  const path = file('flow.yaml', '[{ drain: node/n1 }]\n');
  expect(readChangesFile(path)).toMatchObject([{ drain: ['node/n1'] }]);
  expect(() => readChangesFile(file('broken.json', '[{ "drain": '))).toThrow('is not JSON');
});
