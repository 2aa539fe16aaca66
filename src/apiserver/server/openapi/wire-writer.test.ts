import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WireReader } from '../../schema/wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

test.each([
  ['bool', true, '0801'],
  ['int64', 0, '0800'],
  ['int64', 300, '08ac02'],
  ['int64', -1, '08ffffffffffffffffff01'],
  ['double', 1.5, '09000000000000f83f'],
  ['text', 'ä', '0a02c3a4'],
] as const)('%s of %s is encoded as protobuf', (type, value, bytes) => {
  const writer = new WireWriter();
  if (type === 'bool') writer.bool(1, value);
  else if (type === 'text') writer.text(1, value);
  else writer[type](1, value);
  expect(writer.finish().toString('hex')).toBe(bytes);
});

test('numbers survive a round trip', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      const writer = new WireWriter();
      writer.int64(3, value);
      const reader = new WireReader(writer.finish());
      expect([reader.field('message'), reader.int64()]).toEqual([3, value]);
    }),
  );
});

test('nested messages of any length survive a round trip', () => {
  const long = 'long'.repeat(50_000);
  const writer = new WireWriter();
  writer.message(1000, () => {
    writer.message(2, () => writer.text(1, long));
    writer.message(3, () => {});
    writer.text(4, 'last');
  });
  const reader = new WireReader(writer.finish());
  expect(reader.field('outer')).toBe(1000);
  reader.enter();
  expect(reader.field('outer')).toBe(2);
  const outer = reader.enter();
  expect(reader.field('inner')).toBe(1);
  expect(reader.text()).toBe(long);
  reader.leave(outer);
  expect([reader.field('outer'), reader.text()]).toEqual([3, '']);
  expect([reader.field('outer'), reader.text()]).toEqual([4, 'last']);
  expect(reader.isAtEnd).toBe(true);
});
