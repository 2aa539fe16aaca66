import { describe, expect, onTestFinished, test } from 'vitest';
import type { ClusterCall, ClusterHooks } from '../../cluster/intercepted-cluster.ts';
import { isObjectWrite, WatchGate } from '../../cluster/testing/fault-hooks.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { DisksFixture } from './testing/disks-fixture.ts';

const isLong = Number(process.env.SIMULATION_SEEDS ?? 1) > 1;

/** Holds one write back: the one after `skipped` others. Every other call passes. */
class LateWrite implements ClusterHooks {
  readonly #skipped: number;
  #seen = 0;
  #release = () => {};
  isHeld = false;
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });

  constructor(skipped: number) {
    this.#skipped = skipped;
  }

  readonly before = async (call: ClusterCall): Promise<void> => {
    if (!isObjectWrite(call)) return;
    this.#seen += 1;
    if (this.#seen !== this.#skipped + 1) return;
    this.isHeld = true;
    await this.#released;
  };

  release(): void {
    this.#release();
  }
}

describe('an instance whose write arrives late, beside another one', () => {
  const histories: readonly (readonly [string, readonly number[], number])[] = [
    ['taken back and wanted again', [30, 10, 30], 30],
    ['taken back', [30, 10], 10],
    ['raised again', [30, 40], 40],
  ];
  test.each(histories.slice(0, isLong ? undefined : 1))(
    'the expansion is %s: replicas never grow without their grants',
    async (_, sizes, size) => {
      const fixture = await DisksFixture.start(10_000, 10_000);
      fixture.runAnother();
      for (let skipped = 0, isHeld = true; isHeld; skipped += 1) {
        const name = `v${skipped}`;
        await fixture.addVolume(name, { size: 10, numberOfReplicas: 2 });
        const late = new LateWrite(skipped);
        onTestFinished(() => late.release());
        await fixture.restart(late);
        // Nothing is committed before the second disk answers.
        await fixture.setReady(2, false);
        for (const wanted of sizes) await fixture.patchVolume(name, { size: wanted });
        await fixture.setReady(2, true);
        late.release();
        await fixture.settle();
        expect((await fixture.allocation(name))[0], `after ${skipped} writes`).toBe(size);
        const granted = Object.values(await fixture.granted());
        expect(granted, `after ${skipped} writes`).toEqual([size * (skipped + 1), size * (skipped + 1)]);
        ({ isHeld } = late);
        expect(skipped > 0 || isHeld).toBe(true);
      }
    },
  );

  test('an instance that does not see the volume any more commits nothing that another one has withdrawn', async () => {
    const fixture = await DisksFixture.start(100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
    await fixture.setReady(2, false);
    const gate = new WatchGate(diskVolumes);
    await fixture.restart(gate);
    await fixture.patchVolume('v', { size: 30 });
    gate.hold();
    fixture.runAnother();
    await fixture.patchVolume('v', { size: 10 });
    expect(await fixture.granted()).toEqual({ 1: 10, 2: 10 });
    // The requests that it waits for are there again: it leaves them to the instance that has seen the volume.
    await fixture.setReady(2, true);
    await fixture.request(1, { 'v-r0': 30 });
    await fixture.request(2, { 'v-r1': 30 });
    expect(await fixture.granted()).toEqual({ 1: 10, 2: 10 });
    gate.release();
    await fixture.settle(60_000);
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running']);
    await fixture.checkAtRest();
  });

  test('what others request takes nothing back from a volume', async () => {
    const fixture = await DisksFixture.start(100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    await fixture.patchVolume('v', { size: 30 });
    await fixture.stop();
    await fixture.request(1, { 'v-r0': 20, other: 80 });
    await fixture.restart();
    expect(await fixture.verdicts(1)).toEqual(['other rejected 0 InsufficientStorage', 'v-r0 scheduled 30']);
    expect((await fixture.schedule(1))?.spec?.replicas).toMatchObject({ 'v-r0': 30 });
  });

  test('what others request takes nothing back from a replica that may be started at any moment', async () => {
    const fixture = await DisksFixture.start(100, 100);
    // The volume has no size before its second replica has a disk.
    await fixture.setReady(2, false);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
    await fixture.stop();
    await fixture.request(1, { 'v-r0': 5, other: 95 });
    // The first write is the request of what the replica needs. The disk decides before it arrives.
    const late = new LateWrite(0);
    onTestFinished(() => late.release());
    await fixture.restart(late);
    expect(await fixture.verdicts(1)).toEqual(['other rejected 0 InsufficientStorage', 'v-r0 scheduled 10']);
    late.release();
    await fixture.setReady(2, true);
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running']);
  });
});

test('an expansion that is taken back, and a crash after every write', async () => {
  const fixture = await DisksFixture.start(1000, 1000);
  for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
    const name = `v${writes}`;
    await fixture.setReady(2, true);
    await fixture.addVolume(name, { size: 10, numberOfReplicas: 2 });
    await fixture.setReady(2, false);
    await fixture.patchVolume(name, { size: 30 });
    isInterrupted = await fixture.crashAfter(writes, () => fixture.patchVolume(name, { size: 10 }));
    const granted = Object.values(await fixture.granted());
    expect(granted, `after ${writes} writes`).toEqual([10 * writes, 10 * writes]);
    expect((await fixture.allocation(name))[1], `after ${writes} writes`).toMatch(/^True Scheduled/);
  }
});
