import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { AgentFixture } from '../../../controllers/disk-agent/testing/agent-fixture.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { sendRest, type UploadPlace, uploadedBytes } from './agent-upload.ts';
import { deleteUnusedImage } from './delete.ts';
import { type LocalImage, readLocalImage } from './local-image.ts';
import { ImageUpload } from './upload.ts';
import { UploadTokens } from './upload-token.ts';

const mib = 2 ** 20;
const { signal } = new AbortController();

async function uploadFixture(bytes: number, ...nodes: readonly string[]) {
  const agents = await AgentFixture.start(...nodes);
  const folder = await mkdtemp(join(tmpdir(), 'stowage-upload-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'image');
  const data = randomBytes(bytes);
  await writeFile(path, data);
  const tokens = new UploadTokens(join(folder, 'tokens'));
  const file = await readLocalImage(path, () => {});
  const reports: string[] = [];
  const upload = (
    name: string,
    options: { cluster?: Cluster; file?: LocalImage; tokens?: UploadTokens } = {},
  ) =>
    new ImageUpload(options.cluster ?? agents.cluster, name, options.file ?? file, {
      clock: agents.environment.clock,
      patienceMs: 60_000,
      tokens: options.tokens ?? tokens,
      onProgress: (text) => reports.push(text),
    });
  /** Lets time pass until the call has ended. */
  const ended = async <T>(call: Promise<T>): Promise<T> => {
    let isDone = false;
    const settled = call.finally(() => {
      isDone = true;
    });
    settled.catch(() => {});
    await agents.until(async () => isDone);
    return await settled;
  };
  return { agents, folder, path, data, tokens, file, reports, upload, ended };
}

/** Where an unfinished upload goes. */
async function placeOf(agents: AgentFixture, tokens: UploadTokens, imageName: string, node: string) {
  const { spec } = await agents.image(imageName);
  const { upload } = (await agents.node(node)).status ?? {};
  const token = await tokens.find(spec?.source?.upload?.tokenSHA256 ?? '');
  return { ...upload, imageName, token } as UploadPlace;
}

/** Forwards so many bytes to the server, and then closes the connection. */
async function breakingProxy(url: string, bytesMax: number): Promise<string> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const agent = connect(Number(target.port), target.hostname);
    for (const socket of [client, agent]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    agent.pipe(client);
    let forwarded = 0;
    client.on('data', (chunk) => {
      forwarded += chunk.length;
      if (forwarded <= bytesMax) agent.write(chunk);
      else {
        agent.end();
        client.destroy();
      }
    });
    client.on('close', () => agent.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a file becomes an image with equal copies, and its token goes', async () => {
  const { agents, folder, data, file, reports, upload, ended } = await uploadFixture(3 * mib, 'n1', 'n2');
  await ended(upload('ubuntu').run({ minNumberOfCopies: 2 }));
  for (const node of ['n1', 'n2']) {
    await agents.untilCopy('ubuntu', node, 'ready');
    expect((await agents.read(node, 'images/ubuntu/data.img')).equals(data)).toBe(true);
  }
  expect((await agents.image('ubuntu')).spec).toMatchObject({
    checksum: file.checksum,
    expectedSize: 3 * mib,
    minNumberOfCopies: 2,
  });
  expect(reports.at(-1)).toMatch(/3Mi of 3Mi \(100 %\) sent to node n[12]|verifies/);
  expect(await readdir(join(folder, 'tokens'))).toEqual([]);
  // Another call finds it.
  await ended(upload('ubuntu').run({}));
});

test('an upload that breaks off goes on where it stopped', async () => {
  const { agents, data, tokens, file, upload, ended } = await uploadFixture(8 * mib, 'n1');
  const { hash } = await tokens.add();
  const source = { upload: { tokenSHA256: hash } };
  await agents.addImage('ubuntu', { source, checksum: file.checksum, expectedSize: file.sizeBytes });
  await agents.untilCopy('ubuntu', 'n1', 'starting');
  const place = await placeOf(agents, tokens, 'ubuntu', 'n1');
  const url = await breakingProxy(place.url, 4 * mib);
  const sending = sendRest({ ...place, url }, file, { startBytes: 0, onProgress: () => {} }, signal);
  await expect(ended(sending)).rejects.toMatchObject({ name: 'UploadError', isPassing: true });
  let received = 0;
  await agents.until(async () => {
    received = (await uploadedBytes(place, signal)).bytes;
    return received > 0;
  });
  expect(received).toBeLessThan(8 * mib);
  await ended(upload('ubuntu').run({}));
  expect((await agents.read('n1', 'images/ubuntu/data.img')).equals(data)).toBe(true);
});

test('no token is sent to a server with another certificate', async () => {
  const { agents, tokens, file, ended } = await uploadFixture(mib, 'n1', 'n2');
  const { hash } = await tokens.add();
  const source = { upload: { tokenSHA256: hash } };
  await agents.addImage('ubuntu', { source, checksum: file.checksum, expectedSize: file.sizeBytes });
  await agents.until(async () => (await agents.node('n2')).status?.upload !== undefined);
  const { certificateSHA256 } = await placeOf(agents, tokens, 'ubuntu', 'n2');
  const place = { ...(await placeOf(agents, tokens, 'ubuntu', 'n1')), certificateSHA256 };
  await expect(ended(uploadedBytes(place, signal))).rejects.toThrow(
    /^the agent at https:\S+ can't be reached: it has another certificate than its StorageNode reports$/,
  );
});

test('a wrong token is refused, and the reason of the agent is shown', async () => {
  const { agents, tokens, file, ended } = await uploadFixture(mib, 'n1');
  const { hash } = await tokens.add();
  const source = { upload: { tokenSHA256: hash } };
  await agents.addImage('ubuntu', { source, checksum: file.checksum, expectedSize: file.sizeBytes });
  await agents.untilCopy('ubuntu', 'n1', 'starting');
  const place = { ...(await placeOf(agents, tokens, 'ubuntu', 'n1')), token: 'wrong' };
  const sending = sendRest(place, file, { startBytes: 0, onProgress: () => {} }, signal);
  await expect(ended(sending)).rejects.toThrow(/refuses the image: the token is not valid/);
});

test('an image of the same name with other data, or from elsewhere, is not touched', async () => {
  const { agents, folder, tokens, file, upload, ended } = await uploadFixture(mib, 'n1');
  const { hash } = await tokens.add();
  const source = { upload: { tokenSHA256: hash } };
  await agents.addImage('ubuntu', { source, checksum: file.checksum, expectedSize: file.sizeBytes });
  const other = { ...file, checksum: '0'.repeat(128) };
  await expect(ended(upload('ubuntu', { file: other }).run({}))).rejects.toThrow(
    'image ubuntu exists already, with other data; choose another name, or delete it',
  );
  const elsewhere = new UploadTokens(join(folder, 'elsewhere'));
  await expect(ended(upload('ubuntu', { tokens: elsewhere }).run({}))).rejects.toThrow(
    'image ubuntu is being uploaded by another user or from another machine; wait for it',
  );
});

test('without a disk that has room, the wait ends with the reason; a deleted image ends it at once', async () => {
  const { agents, upload, ended } = await uploadFixture(mib, 'n1');
  await expect(ended(upload('a').run({ diskSelector: ['ssd'] }))).rejects.toThrow(
    /^image a is not ready within --timeout: .*it lacks the tag ssd; call the command again to go on$/,
  );
  const waiting = upload('b').run({ diskSelector: ['ssd'] });
  waiting.catch(() => {});
  await agents.until(async () => (await agents.cluster.resource(backingImages).list()).items.length === 2);
  await deleteUnusedImage(agents.cluster, 'b');
  await expect(ended(waiting)).rejects.toThrow('image b was deleted meanwhile; call the command again');
});

test('data that changed since its checksum was computed is refused by the agent', async () => {
  const { path, upload, ended } = await uploadFixture(mib, 'n1');
  await writeFile(path, randomBytes(mib));
  await expect(ended(upload('ubuntu').run({}))).rejects.toThrow(/^image ubuntu: .*checksum/);
});
