import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runCommandLine } from './command-line.ts';

/** Sequences that our own output uses too, and others. */
const hostile = (name: string) => `${name}\u001b[31m\u001b[1m\u001b[2J\u009b31m`;
const folder = mkdtempSync(join(tmpdir(), 'stowage-hostile-'));
const path = join(folder, 'cluster.json');
const uuid = '00000000-0000-4000-8000-000000000001';
const stowage = 'stowage.dev/v1alpha1';
const conditions = [
  { type: 'DiskAllocation', status: 'False', reason: hostile('Odd'), message: hostile('why') },
];
const claimSpec = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: hostile('class'),
  resources: { requests: { storage: '1Gi' } },
};
const labels = { [hostile('label')]: hostile('value') };
const pod = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: hostile(name), namespace: hostile('shop'), labels },
  spec: {
    containers: [{ name: 'main', image: hostile('image'), resources: { requests: { cpu: '2' } } }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: hostile('data') } }],
    ...more,
  },
});
const objects: readonly object[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: hostile('shop') } },
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: hostile('node'), labels: { 'kubernetes.io/hostname': hostile('node') } },
    spec: { taints: [{ key: hostile('taint'), effect: 'NoSchedule' }] },
    status: { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } },
  },
  pod('pending'),
  pod('placed', { nodeName: hostile('node') }),
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: hostile('data'), namespace: hostile('shop') },
    spec: claimSpec,
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: hostile('pv') },
    spec: {
      capacity: { storage: '1Gi' },
      storageClassName: hostile('class'),
      accessModes: ['ReadWriteOnce'],
    },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: hostile('class') },
    provisioner: hostile('driver'),
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    metadata: { name: hostile('capacity'), namespace: hostile('shop') },
    storageClassName: hostile('class'),
    capacity: '1Gi',
    nodeTopology: { matchLabels: { 'kubernetes.io/hostname': hostile('node') } },
  },
  {
    apiVersion: stowage,
    kind: 'Drive',
    metadata: { name: hostile('drive') },
    spec: { nodeName: hostile('node'), volumes: [{ name: hostile('pvc'), sizeBytes: 1 }] },
    status: { state: hostile('Odd'), capacityBytes: 10 },
  },
  {
    apiVersion: stowage,
    kind: 'StorageNode',
    metadata: { name: hostile('node') },
    spec: { tags: [hostile('tag')], disks: { [hostile('d')]: { path: hostile('/d') } } },
    status: { diskStatus: { [hostile('d')]: { diskUUID: uuid, storageAvailable: 10, storageMaximum: 10 } } },
  },
  {
    apiVersion: stowage,
    kind: 'DiskSchedule',
    metadata: { name: uuid },
    spec: { name: hostile('d'), nodeID: hostile('node'), replicas: { [hostile('r0')]: 5 } },
  },
  {
    apiVersion: stowage,
    kind: 'Volume',
    metadata: { name: hostile('volume') },
    spec: { size: 5, numberOfReplicas: 1 },
    status: { conditions },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: hostile('shop') },
    involvedObject: { kind: 'Pod', name: hostile('pending'), namespace: hostile('shop') },
    reason: hostile('FailedScheduling'),
    message: hostile('message'),
    type: 'Warning',
  },
];

beforeAll(() => writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })));
afterAll(() => rmSync(folder, { recursive: true }));

/** The output of the command on both streams of a terminal with colours. */
async function printed(args: readonly string[]): Promise<string> {
  let all = '';
  const write = (chunk: string | Uint8Array) => {
    all += String(chunk);
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(write),
  );
  const { isTTY, columns } = process.stdout;
  Object.assign(process.stdout, { isTTY: true, columns: 200 });
  try {
    await runCommandLine([...args, '--from', path]);
  } finally {
    Object.assign(process.stdout, { isTTY, columns });
    for (const spy of spies) spy.mockRestore();
  }
  return all;
}

const commands: readonly (readonly string[])[] = [
  ['explain'],
  ['explain', 'pod', `${hostile('shop')}/${hostile('pending')}`],
  ['explain', 'pod', `${hostile('shop')}/${hostile('missing')}`],
  ['plan', '--drain', `node/${hostile('node')}`],
  ['plan', '--drain', `node/${hostile('missing')}`],
  ['headroom', '--like', `pod/${hostile('shop')}/${hostile('pending')}`],
  ['drain-plan', hostile('node')],
  ['reservations'],
  ['capacity'],
  ['disks', 'list'],
  ['disks', 'list', '--volumes'],
  ['drives', 'list'],
];
const formats = ['table', 'wide', 'json', 'yaml', 'name'];
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const sequenceOfOurs = /\u001b\[(1|2|22|31|32|33|39)m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

const namesInColour =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(node|shop|pending|class|data|why|Odd|drive|volume|message|label|value|tag|r0)\u001b\[31m/;

test.each(commands.map((args) => [args.slice(0, 2).join(' ').split('\u001b')[0], args] as const))(
  'stowage %s prints no escape sequence of a name',
  async (_, args) => {
    let all = '';
    for (const format of formats) {
      const text = await printed([...args, '-o', format]);
      all += text;
      // Where a name is, nothing of its sequences is left, not even one that our own output uses.
      expect(text, format).not.toMatch(namesInColour);
      expect(text.replace(sequenceOfOurs, ''), format).not.toMatch(control);
    }
    expect(all).not.toBe('');
  },
);
