import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubeconfigFor, unavailableServer } from '../up/kubeconfigs.ts';
import { everyCommand, type GoldenCommand } from './every-command.ts';
import { GoldenServer } from './golden-server.ts';
import { transcript } from './transcript.ts';

let server: GoldenServer;
beforeAll(async () => {
  server = await GoldenServer.start();
});
afterAll(async () => await server[Symbol.asyncDispose]());

const golden = (name: string) => `./files/${name}.txt`;

/** Addresses, folders and sizes of archives differ between runs. */
function mask(text: string): string {
  return text
    .replaceAll(server.url, 'https://SERVER')
    .replaceAll(join(server.folder, 'powerless'), 'FOLDER')
    .replaceAll(server.folder, 'FOLDER')
    .replaceAll(/\/tmp\/stowage-[\w./-]*kubeconfig/g, 'KUBECONFIG')
    .replaceAll(/\d+ checks/g, 'N checks')
    .replaceAll(/\d+ KiB/g, 'N KiB');
}

/** Commands read several kinds at once, and the first request that fails is reported. */
const maskRequests = (text: string) => mask(text).replaceAll(/(GET|POST) https:\S+:/g, '$1 URL:');

const asking = everyCommand.filter(({ stays, isAlone }) => stays === undefined && isAlone === undefined);

const isMain = ({ isVariant }: GoldenCommand) => isVariant !== true;

test('an empty cluster', async () => {
  const flags = ['--kubeconfig', await server.adminKubeconfig()];
  const text = await transcript(asking, { flags, folder: server.folder, mask });
  await expect(text).toMatchFileSnapshot(golden('empty'));
});

test('no rights', async () => {
  const flags = ['--kubeconfig', await server.powerlessKubeconfig()];
  const folder = join(server.folder, 'powerless');
  mkdirSync(folder);
  const text = await transcript(asking.filter(isMain), { flags, folder, mask });
  await expect(text).toMatchFileSnapshot(golden('no-rights'));
});

test('no cluster', async () => {
  const needing = everyCommand.filter((command) => command.isAlone !== true && isMain(command));
  const missing = ['--kubeconfig', '/nowhere/kubeconfig'];
  const absent = await transcript(needing, { flags: missing, folder: server.folder, mask });
  await expect(absent).toMatchFileSnapshot(golden('no-kubeconfig'));
});

test('commands without a cluster, called wrongly', async () => {
  const alone = everyCommand.filter(({ isAlone }) => isAlone === true);
  const text = await transcript(alone, { flags: [], folder: server.folder, mask });
  await expect(text).toMatchFileSnapshot(golden('alone'));
});

/** Each attempt takes seconds, so not all of them; test/up has more. */
const attempted: ReadonlySet<string> = new Set([
  'plan',
  'move',
  'drives list',
  'disks evict',
  'snapshot',
  'kubeconfig',
]);

test('a server that does not answer', async () => {
  const flags = ['--kubeconfig', kubeconfigFor(unavailableServer, 'x')];
  const commands = asking.filter((command) => attempted.has(command.name) && isMain(command));
  const text = await transcript(commands, { flags, folder: server.folder, mask: maskRequests });
  await expect(text).toMatchFileSnapshot(golden('unavailable'));
});
