import { afterAll, beforeAll, expect, test } from 'vitest';
import { callInProcess } from '../up/in-process.ts';
import {
  changingLines,
  changingTables,
  forgettingLines,
  loseNode,
  seedUploads,
  seedZonalVolumes,
  writeGoldenFiles,
} from './changing-commands.ts';
import type { GoldenCommand } from './every-command.ts';
import { GoldenServer } from './golden-server.ts';
import { driveName, nodeNames, seedSmallCluster } from './small-cluster.ts';
import { transcript } from './transcript.ts';

let server: GoldenServer;
let flags: readonly string[] = [];
beforeAll(async () => {
  server = await GoldenServer.start();
  await seedSmallCluster(server.cluster);
  flags = ['--kubeconfig', await server.adminKubeconfig()];
});
afterAll(async () => await server[Symbol.asyncDispose]());

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

/** They have no formats. The clock of the server is behind, so that its tokens end earlier than requested. */
const writing: readonly GoldenCommand[] = [
  { name: 'snapshot', args: ['FOLDER/snapshot.json'] },
  { name: 'bundle', args: ['--output-file', 'FOLDER/bundle.tar.gz'] },
  { name: 'kubeconfig', args: ['default'] },
  { name: 'kubeconfig', args: ['default', '--to', 'FOLDER/robot.kubeconfig'] },
];

test.each([
  ['workload', ['sts/default/orders-db', 'deployment/default/checkout', 'rs/default/checkout-7d9f8b6c5d']],
  ['stateful-set', ['sts/default/orders-db']],
  ['class', ['local-ssd-delayed', 'replicated-fast', 'stowage-drives']],
  ['node-or-drive', [...nodeNames.map((name) => `node/${name}`), `drive/${driveName}`, expect.any(String)]],
])('completion offers each %s of a cluster', async (of, names) => {
  const { status, stdout } = await callInProcess('__names', of, '--', 'plan', ...flags);
  expect([status, stdout.trimEnd().split('\n')]).toEqual([0, names]);
});

test('completion offers nothing without rights, and prints no error', async () => {
  const powerless = ['--kubeconfig', await server.powerlessKubeconfig()];
  const printed = await callInProcess('__names', 'workload', '--', 'plan', ...powerless);
  expect(printed).toEqual({ status: 1, stdout: '', stderr: '' });
});

const maskFor =
  ({ url, folder }: GoldenServer) =>
  (text: string) =>
    text
      .replaceAll(url, 'https://SERVER')
      .replaceAll(folder, 'FOLDER')
      .replaceAll(/\d+(\s+)checks/g, 'N$1checks')
      .replaceAll(/\d+ KiB/g, 'N KiB')
      .replaceAll(/(token|certificate-authority-data): \S{40,}/g, '$1: SECRET')
      .replaceAll(/until \d{4}-\S+Z/g, 'until TIME');

test('a small cluster, narrow and wide', async () => {
  const { folder } = server;
  const mask = maskFor(server);
  const narrow = await transcript([...reading, ...writing], { flags, folder, columns: 60, mask });
  await expect(narrow).toMatchFileSnapshot('./files/narrow.txt');
  const wide = await transcript(reading, { flags: [...flags, '-o', 'wide'], folder, columns: 200, mask });
  await expect(wide).toMatchFileSnapshot('./files/wide.txt');
});

test('commands that change a small cluster, narrow and wide', async () => {
  const narrow = await printedBy(60, async (print, cluster) => {
    const tables = await print([...changingTables, ...changingLines]);
    await loseNode(cluster);
    return `${tables}\n${await print(forgettingLines)}`;
  });
  await expect(narrow).toMatchFileSnapshot('./files/changes-narrow.txt');
  const wide = await printedBy(200, async (print, cluster) => {
    const tables = await print(changingTables, '-o', 'wide');
    await loseNode(cluster);
    return `${tables}\n${await print(forgettingLines, '-o', 'wide')}`;
  });
  await expect(wide).toMatchFileSnapshot('./files/changes-wide.txt');
});

/** What is changed stays so: each width has a cluster of its own. */
async function printedBy(
  columns: number,
  act: (
    print: (commands: readonly GoldenCommand[], ...more: readonly string[]) => Promise<string>,
    cluster: GoldenServer['cluster'],
  ) => Promise<string>,
): Promise<string> {
  await using own = await GoldenServer.start();
  const { cluster, folder } = own;
  await seedSmallCluster(cluster);
  await seedZonalVolumes(cluster);
  await seedUploads(cluster);
  writeGoldenFiles(folder);
  const mask = maskFor(own);
  const kubeconfig = ['--kubeconfig', await own.adminKubeconfig()];
  return await act(
    async (commands, ...more) =>
      await transcript(commands, { flags: [...kubeconfig, ...more], folder, columns, mask }),
    cluster,
  );
}
