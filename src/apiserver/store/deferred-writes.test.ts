import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { DeferredWrites } from './deferred-writes.ts';
import { StoreError } from './store-error.ts';

/** A disk that is full until a test says otherwise. */
function fixture() {
  const clock = new VirtualClock();
  const reported: string[] = [];
  const written: string[] = [];
  const disk = { isFull: true };
  const writes = new DeferredWrites({ clock, onError: (_, where) => reported.push(where) });
  const step = (name: string) => async () => {
    if (disk.isFull) throw new StoreError('DiskFull', 'the disk is full');
    written.push(name);
  };
  return { clock, reported, written, disk, writes, step };
}

test('a step that finds no space does not end the start, and is repeated in order until there is some', async () => {
  const { clock, reported, written, disk, writes, step } = fixture();
  await writes.run('roles', step('roles'));
  await writes.run('definitions', step('definitions'));
  expect(reported).toEqual(['roles', 'definitions']);
  await clock.advance(20_000);
  expect(written).toEqual([]);
  disk.isFull = false;
  await clock.advance(10_000);
  expect(written).toEqual(['roles', 'definitions']);
  await writes.close();
});

test('a step that fails for another reason ends the start', async () => {
  const { writes } = fixture();
  const damaged = async () => {
    throw new StoreError('WriteFailed', 'input/output error');
  };
  await expect(writes.run('roles', damaged)).rejects.toThrow('input/output error');
});

test('after it is closed nothing is written', async () => {
  const { clock, written, disk, writes, step } = fixture();
  await writes.run('roles', step('roles'));
  await writes.close();
  disk.isFull = false;
  await clock.advance(60_000);
  expect(written).toEqual([]);
});
