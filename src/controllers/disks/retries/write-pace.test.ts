import { expect, test } from 'vitest';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { WritePace } from './write-pace.ts';

test('an object is written often at first, then once per second; each object is limited separately', async () => {
  const clock = new VirtualClock();
  const pace = new WritePace(clock);
  const waitsMs = Array.from({ length: 21 }, () => pace.takeMs('v'));
  expect(waitsMs).toEqual([...Array.from({ length: 20 }, () => 0), 1000]);
  expect(pace.takeMs('w')).toBe(0);
  await clock.advance(400);
  expect(pace.takeMs('v')).toBeCloseTo(600);
  await clock.advance(600);
  expect(pace.takeMs('v')).toBe(0);
  expect(pace.takeMs('v')).toBe(1000);
  pace.delete('v');
  expect(pace.takeMs('v')).toBe(0);
});
