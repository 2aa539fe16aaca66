import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { DriveVolume } from '../../kube/stowage/drive.ts';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;
/** More steps than any call has. */
const stepsMax = 60;

interface Scenario {
  readonly prepare: (node: NodeFixture, volume: string) => Promise<unknown>;
  readonly action: (node: NodeFixture, volume: string) => Promise<unknown>;
  readonly check: (node: NodeFixture, volume: string) => Promise<unknown>;
}

/**
 * Ends the process behind each step of an action, one after the other, starts it again, repeats the action as the kubelet does, and checks the
 * result. Ends when the action has no further step. Each attempt has its own volume.
 */
async function crashAtEveryStep({ prepare, action, check }: Scenario): Promise<void> {
  const node = await NodeFixture.start();
  let crashes = 0;
  for (let step = 1; step <= stepsMax; step += 1) {
    const volume = `volume-${step}`;
    await prepare(node, volume);
    node.crash.plan(step);
    await action(node, volume).catch(() => {});
    const { hasCrashed } = node.crash;
    await node.restart();
    await action(node, volume);
    await check(node, volume);
    if (!hasCrashed) break;
    crashes += 1;
  }
  expect(crashes).toBeGreaterThan(0);
  expect(crashes).toBeLessThan(stepsMax);
}

/** Where the drive has data of the volume. */
function onDisk(node: NodeFixture, volume: string): readonly string[] {
  const [uuid = ''] = readdirSync(join(node.folder, 'content'));
  const folder = join(node.folder, 'content', uuid);
  return ['volumes', 'deleted'].filter((name) => existsSync(join(folder, name, volume)));
}

/** The paths at which the volume is mounted, without their folder. */
async function mountedAt(node: NodeFixture, volume: string): Promise<readonly string[]> {
  const { mounts } = await node.host.mounts();
  return mounts.filter(({ root }) => root === `/volumes/${volume}`).map(({ path }) => basename(path));
}

async function entryOf(node: NodeFixture, volume: string): Promise<DriveVolume | undefined> {
  return (await node.fixture.get('n1-a')).spec?.volumes?.find(({ name }) => name === volume);
}

function fileIn(node: NodeFixture, path: string): string {
  return join(node.host.shownAt(node.path(path)) ?? '', 'file');
}

test('staging survives a crash at every step', async () => {
  await crashAtEveryStep({
    prepare: (node, volume) => node.addVolume(volume, mib),
    action: (node, volume) => node.stage(volume, { volumeContext: { 'stowage.dev/drive': 'n1-a' } }),
    check: async (node, volume) => {
      expect(onDisk(node, volume)).toEqual(['volumes']);
      expect(node.host.limits.get(volume)).toBe(mib);
      expect(await mountedAt(node, volume)).toEqual([`stage-${volume}`]);
    },
  });
});

test('read-only publishing survives a crash at every step', async () => {
  await crashAtEveryStep({
    prepare: async (node, volume) => {
      await node.addVolume(volume, mib);
      await node.stage(volume, { volumeContext: { 'stowage.dev/drive': 'n1-a' } });
    },
    action: (node, volume) => node.publish(volume, { readonly: true }),
    check: async (node, volume) => {
      expect(await mountedAt(node, volume)).toEqual([`stage-${volume}`, `pod-${volume}`]);
      expect((await node.host.mounts()).at(node.path(`pod-${volume}`))?.options).toEqual(['ro']);
    },
  });
});

test('unpublishing and unstaging survive a crash at every step', async () => {
  await crashAtEveryStep({
    prepare: async (node, volume) => {
      await node.addVolume(volume, mib);
      await node.stage(volume, { volumeContext: { 'stowage.dev/drive': 'n1-a' } });
      await node.publish(volume);
      await writeFile(fileIn(node, `pod-${volume}`), 'kept');
    },
    action: async (node, volume) => {
      await node.unpublish(volume);
      await node.unstage(volume);
    },
    check: async (node, volume) => {
      expect(await mountedAt(node, volume)).toEqual([]);
      expect(existsSync(node.path(`pod-${volume}`))).toBe(false);
      await node.stage(volume);
      expect(await readFile(fileIn(node, `stage-${volume}`), 'utf8')).toBe('kept');
    },
  });
});

test('an inline volume survives a crash at every step, and takes its bytes once', async () => {
  await crashAtEveryStep({
    prepare: async () => {},
    action: (node, volume) => node.publishInline(volume, { size: '1Mi' }),
    check: async (node, volume) => {
      expect(await entryOf(node, volume)).toMatchObject({ sizeBytes: mib, podRef: { name: 'web' } });
      expect(await mountedAt(node, volume)).toEqual([`pod-${volume}`]);
      node.fixture.expectNoOverdraft();
    },
  });
});

test('the end of an inline volume survives a crash at every step, and leaves nothing', async () => {
  await crashAtEveryStep({
    prepare: async (node, volume) => {
      await node.publishInline(volume, { size: '1Mi' });
      await writeFile(fileIn(node, `pod-${volume}`), '');
    },
    action: async (node, volume) => {
      await node.unpublish(volume);
      await node.until(async () => node.crash.hasCrashed || (await entryOf(node, volume)) === undefined);
    },
    check: async (node, volume) => {
      expect(onDisk(node, volume)).toEqual([]);
      expect(node.host.limits.has(volume)).toBe(false);
      expect((await node.fixture.get('n1-a')).metadata?.finalizers ?? []).toEqual([]);
    },
  });
});

test('a volume is deleted after a crash at every step, and its bytes are free only when its data is gone', async () => {
  await crashAtEveryStep({
    prepare: async (node, volume) => {
      await node.addVolume(volume, mib);
      await node.stage(volume, { volumeContext: { 'stowage.dev/drive': 'n1-a' } });
      await writeFile(fileIn(node, `stage-${volume}`), '');
      await node.unstage(volume);
    },
    action: async (node, volume) => {
      if ((await entryOf(node, volume))?.state === 'Active') await node.releaseVolume(volume);
      await node.until(async () => {
        const isFree = (await entryOf(node, volume)) === undefined;
        if (isFree) expect(onDisk(node, volume)).toEqual([]);
        return isFree || node.crash.hasCrashed;
      });
    },
    check: async (node, volume) => {
      expect(await entryOf(node, volume)).toBeUndefined();
      expect(onDisk(node, volume)).toEqual([]);
      expect(node.host.limits.has(volume)).toBe(false);
    },
  });
});
