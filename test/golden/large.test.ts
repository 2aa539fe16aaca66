import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  boundClaim,
  claim,
  claimRefTo,
  drive,
  localVolume,
  node,
  pod,
  storageClass,
} from '../../src/engine/testing/objects.ts';
import type { KubeObject } from '../../src/kube/api/meta.ts';
import { driveNodeKey } from '../../src/kube/stowage/drive.ts';
import { kubeconfigFor } from '../up/kubeconfigs.ts';
import type { GoldenCommand } from './every-command.ts';
import { listServer } from './list-server.ts';
import { transcript } from './transcript.ts';

const names = Array.from({ length: 5_000 }, (_, at) => `node-${String(at + 1).padStart(4, '0')}`);
/** Two tables of 50 rows; `-o wide` has the rest. */
const linesMax = 115;

/** Those whose renderers have no golden file for so many objects. */
const commands: readonly GoldenCommand[] = [
  { name: 'move', args: ['node-0001', '--dry-run'] },
  { name: 'explain', args: ['pod', 'big'] },
  { name: 'reservations' },
  { name: 'capacity' },
  { name: 'drives list' },
  { name: 'drives list', args: ['volumes'] },
  { name: 'drives info' },
  { name: 'disks list' },
  { name: 'disks list', args: ['--volumes'] },
  { name: 'disks describe', args: ['nothing'] },
  { name: 'disks image list' },
  { name: 'upgrade-zonal-pvs' },
];

const files: readonly GoldenCommand[] = [
  { name: 'snapshot', args: ['FOLDER/snapshot.json'] },
  { name: 'bundle', args: ['--output-file', 'FOLDER/bundle.tar.gz'] },
];

function storageNode(name: string, at: number): KubeObject {
  const diskUUID = `${String(at).padStart(8, '0')}-bbbb-4ccc-8ddd-eeeeeeeeeeee`;
  return {
    metadata: { name, uid: name },
    spec: { disks: { ssd: { path: '/disks/ssd' } } },
    status: { diskStatus: { ssd: { diskUUID, storageMaximum: 2 ** 40, storageAvailable: 2 ** 39 } } },
  } as KubeObject;
}

test('five thousand nodes', async () => {
  const volumes = [{ name: 'pvc-0', sizeBytes: 2 ** 30 }];
  const text = await printedOn(commands, {
    nodes: names.map((name) => node(name, { [driveNodeKey]: name })),
    drives: names.map((name) => drive(`${name}-a`, 100, { node: name, spec: { volumes } })),
    storagenodes: names.map(storageNode),
    volumes: names.map((name) => ({ metadata: { name }, spec: { size: 2 ** 30 } }) as KubeObject),
    backingimages: names.map((name) => ({ metadata: { name }, spec: {} }) as KubeObject),
    storageclasses: [storageClass('local')],
    persistentvolumes: names.map((name) =>
      localVolume(`pv-${name}`, '10Gi', name, { phase: 'Bound', spec: claimRefTo(name, `uid-${name}`)! }),
    ),
    persistentvolumeclaims: [
      claim('big', '1Ti'),
      ...names.map((name) => boundClaim(name, '10Gi', `pv-${name}`)),
    ],
    pods: [pod('big', ['big'])],
  });
  for (const part of text.split('\n\n$ ')) expect(part.split('\n').length).toBeLessThan(linesMax);
  await expect(text).toMatchFileSnapshot('./files/large.txt');
});

test('files of five thousand nodes', async () => {
  const text = await printedOn(files, { nodes: names.map((name) => node(name)) });
  await expect(text).toMatchFileSnapshot('./files/large-files.txt');
});

async function printedOn(
  called: readonly GoldenCommand[],
  lists: Parameters<typeof listServer>[0],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-golden-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const url = await listServer(lists);
  const mask = (text: string) =>
    text
      .replaceAll(url, 'http://SERVER')
      .replaceAll(folder, 'FOLDER')
      .replaceAll(/\d+ KiB/g, 'N KiB');
  return await transcript(called, { flags: ['--kubeconfig', kubeconfigFor(url, 'x')], folder, mask });
}
