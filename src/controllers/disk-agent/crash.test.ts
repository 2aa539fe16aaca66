import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { AgentFixture } from './testing/agent-fixture.ts';
import { FileServer } from './testing/file-server.ts';
import { callAgent, sha256Hex } from './testing/upload-client.ts';

const kibibyte = 1024;
/** Far more than any of these operations has. */
const stepsMax = 80;
const data = randomBytes(70 * kibibyte);
const checksum = createHash('sha512').update(data).digest('hex');

interface CrashScenario {
  /** Asks for something, under a new name for each attempt. */
  readonly act: (attempt: number) => Promise<void>;
  readonly isDone: (attempt: number) => Promise<boolean>;
  readonly check: (attempt: number) => Promise<void>;
}

/** Crashes the agent after its first step, after its second step, and so on, until it has no more. Returns how many there were. */
async function crashAfterEveryStep(
  fixture: AgentFixture,
  { act, isDone, check }: CrashScenario,
): Promise<number> {
  for (let attempt = 1; attempt <= stepsMax; attempt += 1) {
    fixture.crash.arm(attempt);
    await act(attempt);
    await fixture.until(async () => fixture.crash.hasCrashed || (await isDone(attempt)));
    const hasCrashed = fixture.crash.hasCrashed;
    if (hasCrashed) {
      await fixture.restart(['n1']);
      await fixture.until(async () => await isDone(attempt));
    }
    await check(attempt);
    if (!hasCrashed) return attempt - 1;
  }
  throw new Error(`more than ${stepsMax} steps`);
}

async function isRunning(fixture: AgentFixture, volume: string, size: number): Promise<boolean> {
  const found = await fixture.replicasOf(volume);
  const isRight = found.every(({ status }) => status?.currentState === 'running' && status.size === size);
  return found.length === 1 && isRight;
}

test('a replica is made, grown and removed, whenever the agent crashes', async () => {
  const fixture = await AgentFixture.start('n1');
  const pathOf = async (volume: string) =>
    `replicas/${(await fixture.replicasOf(volume))[0]?.metadata?.name}/data.img`;
  const made = await crashAfterEveryStep(fixture, {
    act: (n) => fixture.addVolume(`v${n}`, { size: 64 * kibibyte, numberOfReplicas: 1 }),
    isDone: (n) => isRunning(fixture, `v${n}`, 64 * kibibyte),
    check: async (n) => {
      expect(await fixture.fileSize('n1', await pathOf(`v${n}`))).toEqual([64 * kibibyte, 0]);
    },
  });
  // A file that is lengthened has more steps: its checksum is taken again.
  fixture.crash.arm();
  const more = Array.from({ length: 12 }, (_, at) => made + 2 + at);
  for (const n of more) await fixture.addVolume(`v${n}`, { size: 64 * kibibyte, numberOfReplicas: 1 });
  for (const n of more) await fixture.until(() => isRunning(fixture, `v${n}`, 64 * kibibyte));
  const grown = await crashAfterEveryStep(fixture, {
    act: async (n) => {
      const body = { spec: { size: 128 * kibibyte } };
      await fixture.cluster.resource(diskVolumes).patch({ name: `v${n}` }, { type: 'merge', body });
    },
    isDone: (n) => isRunning(fixture, `v${n}`, 128 * kibibyte),
    check: async (n) => {
      expect(await fixture.fileSize('n1', await pathOf(`v${n}`))).toEqual([128 * kibibyte, 0]);
    },
  });
  // Whatever was recorded before a crash, no data counts as damaged when it is found.
  await fixture.restart(['n1']);
  await fixture.settle(5_000);
  const { items } = await fixture.cluster.resource(replicas).list();
  expect(new Set(items.map(({ status }) => status?.currentState))).toEqual(new Set(['running']));
  const removed = await crashAfterEveryStep(fixture, {
    act: async (n) => {
      const [replica] = await fixture.replicasOf(`v${n}`);
      await fixture.cluster.resource(diskVolumes).delete({ name: `v${n}` });
      await fixture.cluster.resource(replicas).delete({ name: replica?.metadata?.name ?? '' });
    },
    isDone: async (n) => (await fixture.replicasOf(`v${n}`)).length === 0,
    check: async (n) => {
      const left = await readdir(join(fixture.diskPath('n1'), 'replicas'));
      expect(left.filter((name) => name.startsWith(`v${n}-`))).toEqual([]);
    },
  });
  expect([made >= 6, grown >= 3, removed >= 4]).toEqual([true, true, true]);
});

test('a copy of an image is made and removed, whenever the agent crashes', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({ data });
  const source = { download: { url: server.url } };
  const made = await crashAfterEveryStep(fixture, {
    act: (n) => fixture.addImage(`i${n}`, { source, checksum, expectedSize: data.length }),
    isDone: async (n) => (await fixture.copy(`i${n}`, 'n1')) === 'ready',
    check: async (n) => {
      expect(data.equals(await fixture.read('n1', `images/i${n}/data.img`))).toBe(true);
      expect(await readdir(join(fixture.diskPath('n1'), `images/i${n}`))).toEqual(['data.img', 'image.json']);
    },
  });
  const client = fixture.cluster.resource(backingImages);
  const removed = await crashAfterEveryStep(fixture, {
    act: async (n) => void (await client.delete({ name: `i${n}` })),
    isDone: async (n) => (await undefinedIfNotFound(client.get({ name: `i${n}` }))) === undefined,
    check: async (n) => {
      expect(await readdir(join(fixture.diskPath('n1'), 'images'))).not.toContain(`i${n}`);
    },
  });
  expect([made >= 10, removed >= 5]).toEqual([true, true]);
});

test('an upload can be sent, whenever the agent crashes before it', async () => {
  const fixture = await AgentFixture.start('n1');
  const token = 'secret';
  const source = { upload: { tokenSHA256: sha256Hex(token) } };
  const head = async (n: number) => {
    const url = (await fixture.node('n1')).status?.upload?.url ?? '';
    return await callAgent(url, { method: 'HEAD', path: `/images/i${n}/data`, token });
  };
  const steps = await crashAfterEveryStep(fixture, {
    act: (n) => fixture.addImage(`i${n}`, { source, expectedSize: data.length }),
    isDone: async (n) => (await head(n))?.status === 200,
    check: async (n) => {
      expect(await fixture.copy(`i${n}`, 'n1')).toMatch(/^starting waits for the upload/);
    },
  });
  expect(steps).toBeGreaterThan(3);
});

test('a replica begins with its image, whenever the agent crashes', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({ data });
  await fixture.addImage('i', { source: { download: { url: server.url } }, expectedSize: data.length });
  await fixture.untilCopy('i', 'n1', 'ready');
  const steps = await crashAfterEveryStep(fixture, {
    act: (n) => fixture.addVolume(`v${n}`, { size: 256 * kibibyte, numberOfReplicas: 1, backingImage: 'i' }),
    isDone: (n) => isRunning(fixture, `v${n}`, 256 * kibibyte),
    check: async (n) => {
      const [replica] = await fixture.replicasOf(`v${n}`);
      const content = await fixture.read('n1', `replicas/${replica?.metadata?.name}/data.img`);
      expect([content.length, data.equals(content.subarray(0, data.length))]).toEqual([256 * kibibyte, true]);
    },
  });
  expect(steps).toBeGreaterThan(8);
});
