import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { nodes, persistentVolumes } from '../../src/kube/resources.ts';
import { type BackingImage, backingImages } from '../../src/kube/stowage/backing-image.ts';
import { diskVolumes } from '../../src/kube/stowage/volume.ts';
import { labels } from '../../src/kube/well-known.ts';
import type { GoldenCommand } from './every-command.ts';
import { driveName, nodeNames, otherDriveName } from './small-cluster.ts';

const [first = '', , third = ''] = nodeNames;
const image = 'https://images.example.com/debian-13-generic-amd64.img';
/** Without controllers nothing moves, so waiting ends by the time. */
const soon = ['--timeout', '10ms'];

/** Devices can't be the same on every machine: these are refused before one is touched. */
const toThisNode = ['--node-name', first, '--yes'];
const reviewed = ['FOLDER/reviewed.yaml'];

/** Those that print a table or a paragraph; they have `-o wide`. */
export const changingTables: readonly GoldenCommand[] = [
  { name: 'drives init', args: ['/dev/nowhere', ...toThisNode] },
  { name: 'drives init', args: [...reviewed, ...toThisNode] },
  { name: 'drives init', args: [...reviewed, '--node-name', 'elsewhere'] },
  { name: 'upgrade-zonal-pvs' },
  { name: 'upgrade-zonal-pvs', args: ['--dry-run=false'] },
  { name: 'disks evict', args: [`node/${first}`] },
  { name: 'disks evict', args: [`${third}/ssd`, '--wait', ...soon] },
  { name: 'disks evict', args: [`${third}/ssd`, '--undo'] },
  { name: 'disks evict', args: [`node/${first}`, '--undo'] },
  { name: 'move', args: [`drive/${driveName}`, '--yes', ...soon] },
  { name: 'move', args: [`drive/${driveName}`, '--undo'] },
  { name: 'move', args: [`drive/${driveName}`, '--undo'] },
  { name: 'move', args: [first, '--yes', ...soon] },
];

/** Those that print a line for each change; they are called after the others. */
export const changingLines: readonly GoldenCommand[] = [
  { name: 'drives uncordon', args: [driveName, otherDriveName] },
  { name: 'drives repair', args: [driveName] },
  { name: 'drives repair', args: ['nothing'] },
  { name: 'drives move', args: [driveName, otherDriveName] },
  { name: 'drives cordon', args: [driveName] },
  { name: 'drives cordon', args: [driveName] },
  { name: 'drives cordon', args: [otherDriveName] },
  { name: 'drives move', args: [driveName, otherDriveName, '--volume', 'nothing'] },
  { name: 'drives move', args: [driveName, otherDriveName] },
  { name: 'drives label', args: [driveName, 'rack=r13', 'owner=storage-team'] },
  { name: 'drives tier', args: [driveName, 'Cold'] },
  { name: 'drives remove', args: [driveName] },
  { name: 'drives remove', args: [otherDriveName] },
  { name: 'drives forget', args: [first] },
  { name: 'drives forget', args: [driveName] },
  { name: 'disks uncordon', args: [`node/${first}`] },
  { name: 'disks cordon', args: [`${first}/ssd`, `node/${third}`] },
  { name: 'disks uncordon', args: [`${third}/ssd`] },
  { name: 'disks remove', args: [`${first}/ssd`, '--yes'] },
  { name: 'disks remove', args: [`${first}/ssd`, '--force', '--yes'] },
  { name: 'disks image create', args: ['debian', '--url', image, '--copies', '2'] },
  { name: 'disks image create', args: ['debian', '--url', image, '--copies', '2'] },
  { name: 'disks image delete', args: ['debian'] },
  { name: 'disks image upload', args: ['alpine', 'FOLDER/alpine.img'] },
  { name: 'disks image upload', args: ['arch', 'FOLDER/alpine.img', ...soon] },
  { name: 'disks image upload', args: ['ubuntu', 'FOLDER/alpine.img'] },
  { name: 'disks image from-volume', args: ['golden', 'orders'] },
  { name: 'disks image from-volume', args: ['golden', 'invoices'] },
  { name: 'disks image from-volume', args: ['golden', 'invoices'] },
];

const fileText = 'the first bytes of an image\n';

/** The files that are uploaded, and that `drives discover` has written. */
export function writeGoldenFiles(folder: string): void {
  writeFileSync(join(folder, 'alpine.img'), fileText);
  const device = { id: '0123456789abcdef', name: 'sdz-nowhere', size: 2 ** 40, select: 'yes' };
  const nodes = [{ name: first, drives: [device] }];
  writeFileSync(join(folder, 'reviewed.yaml'), JSON.stringify({ version: 'v1', nodes }));
}

/**
 * Images whose uploads were begun elsewhere: one is ready, the other has no disk. A new upload would leave a token in the home directory of the user
 * who runs the tests. And a Volume with data.
 */
export async function seedUploads(cluster: Cluster): Promise<void> {
  const checksum = createHash('sha512').update(fileText).digest('hex');
  const source = { upload: { tokenSHA256: '0'.repeat(64) } };
  const spec = { source, checksum, expectedSize: fileText.length };
  const file = { '33333333-bbbb-4ccc-8ddd-eeeeeeeeeeee': { state: 'ready' } } as const;
  const client = cluster.resource(backingImages);
  await client.create({ metadata: { name: 'arch' }, spec });
  const created: BackingImage = await client.create({ metadata: { name: 'alpine' }, spec });
  await client.update({ ...created, status: { diskFileStatusMap: file } }, { subresource: 'status' });
  const size = 20 * 2 ** 30;
  const volumes = cluster.resource(diskVolumes);
  const volume = await volumes.create({
    metadata: { name: 'invoices' },
    spec: { size, numberOfReplicas: 1 },
  });
  await volumes.update({ ...volume, status: { size } }, { subresource: 'status' });
}

/** After the node has gone. */
export const forgettingLines: readonly GoldenCommand[] = [
  { name: 'drives forget', args: [first] },
  { name: 'drives forget', args: [first, '--output-file', 'FOLDER/lost.yaml'] },
  { name: 'drives forget', args: [first, '--yes'] },
];

/** The machine of the drives is gone for good. */
export async function loseNode(cluster: Cluster): Promise<void> {
  await cluster.resource(nodes).delete({ name: first });
}

/** Volumes of before there was node affinity: one that can be upgraded, and one that a pod uses in another zone. */
export async function seedZonalVolumes(cluster: Cluster): Promise<void> {
  const spec = {
    capacity: { storage: '40Gi' },
    accessModes: ['ReadWriteOnce'],
    awsElasticBlockStore: { volumeID: 'vol-0f1e2d3c4b5a69788' },
  } as const;
  const claimRef = { namespace: 'default', name: 'data-orders-db-0' };
  const zones = { zonal: 'eu-central-1a__eu-central-1b', elsewhere: 'eu-central-1b' };
  const client = cluster.resource(persistentVolumes);
  await cluster
    .resource(nodes)
    .patch(
      { name: first },
      { type: 'merge', body: { metadata: { labels: { [labels.zone]: 'eu-central-1a' } } } },
    );
  const zonal = {
    name: 'pvc-8e0c34f7-1f0a-4a55-9c1e-0b6d2f7a9e11',
    labels: { [labels.betaZone]: zones.zonal },
  };
  await client.create({ metadata: zonal, spec });
  const used = {
    name: 'pvc-c7d1a9b2-6f3e-4d08-8b57-92e4f05c3a6d',
    labels: { [labels.zone]: zones.elsewhere },
  };
  await client.create({ metadata: used, spec: { ...spec, claimRef } });
}
