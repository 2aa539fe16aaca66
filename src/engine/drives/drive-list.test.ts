import { expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.ts';
import { DriveList } from './drive-list.ts';

test('agrees with a sorted array through random insertions and removals, also where free bytes are equal or below zero', () => {
  const random = seededRandom('drive list');
  const list = new DriveList<{ readonly order: number; readonly freeBytes: number }>();
  const model: { readonly order: number; readonly freeBytes: number }[] = [];
  for (let step = 0; step < 3_000; step += 1) {
    const isGrowing = step < 1_500;
    if (random.int(10) < (isGrowing ? 8 : 3) || model.length === 0) {
      const drive = { order: step, freeBytes: (random.int(40) - 2) * 2 ** 45 + random.int(2) };
      list.insert(drive);
      model.push(drive);
    } else {
      const [drive] = model.splice(random.int(model.length), 1);
      list.remove(drive!);
      // A drive that is not in the list takes no effect.
      list.remove(drive!);
    }
    if (step % 50 !== 0 && step !== 1_500) continue;
    model.sort((a, b) => a.freeBytes - b.freeBytes || a.order - b.order);
    expect(Array.from({ length: list.length }, (_, at) => list.at(at))).toEqual(model);
    const bytes = (random.int(40) - 2) * 2 ** 45;
    const first = model.findIndex(({ freeBytes }) => freeBytes >= bytes);
    expect(list.firstWith(bytes)).toBe(first < 0 ? model.length : first);
    const sum = model.reduce((total, { freeBytes }) => total + BigInt(Math.max(0, freeBytes)), 0n);
    expect(list.freeBytes).toBe(sum);
  }
});
