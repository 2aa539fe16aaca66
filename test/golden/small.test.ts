import { expect, test } from 'vitest';
import type { GoldenCommand } from './every-command.ts';
import { GoldenServer } from './golden-server.ts';
import { driveName, nodeNames, seedSmallCluster } from './small-cluster.ts';
import { transcript } from './transcript.ts';

const [first = ''] = nodeNames;
const reading: readonly GoldenCommand[] = [
  { name: 'explain' },
  { name: 'explain', args: ['pod', 'orders-db-1'] },
  { name: 'explain', args: ['claim', 'data-orders-db-1'] },
  { name: 'explain', args: ['statefulset', 'orders-db'] },
  { name: 'plan', args: ['--drain', `node/${first}`] },
  { name: 'headroom' },
  { name: 'drain-plan', args: [first] },
  { name: 'move', args: [`drive/${driveName}`, '--dry-run'] },
  { name: 'reservations' },
  { name: 'capacity' },
  { name: 'capacity', args: ['--drift'] },
  { name: 'drives list' },
  { name: 'drives list', args: ['volumes'] },
  { name: 'drives info' },
  { name: 'disks list' },
  { name: 'disks list', args: ['--volumes'] },
  { name: 'disks describe', args: [`${first}/ssd`] },
  { name: 'disks describe', args: ['volume/orders'] },
  { name: 'disks image list' },
  { name: 'doctor' },
  { name: 'upgrade-zonal-pvs' },
];

test('a small cluster, narrow and wide', async () => {
  await using server = await GoldenServer.start();
  await seedSmallCluster(server.cluster);
  const { folder } = server;
  const mask = (text: string) => text.replaceAll(server.url, 'https://SERVER').replaceAll(folder, 'FOLDER');
  const flags = ['--kubeconfig', await server.adminKubeconfig()];
  const narrow = await transcript(reading, { flags, folder, columns: 60, mask });
  await expect(narrow).toMatchFileSnapshot('./files/narrow.txt');
  const wide = await transcript(reading, { flags: [...flags, '-o', 'wide'], folder, columns: 200, mask });
  await expect(wide).toMatchFileSnapshot('./files/wide.txt');
});
