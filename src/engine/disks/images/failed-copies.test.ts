import { describe, expect, test } from 'vitest';
import type { BackingImage, BackingImageFileState } from '../../../kube/stowage/backing-image.ts';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { failedCopies, failedCopiesKey, withFailures } from './failed-copies.ts';

const minute = 60_000;
// No disk is known by its name.
const disks = { get: () => undefined };
const startMs = new VirtualClock().nowMs();

function image(
  annotation: string | undefined,
  files: Readonly<Record<string, BackingImageFileState>> = {},
): BackingImage {
  const entries = Object.entries(files).map(([uuid, state]) => [uuid, { state, message: `${uuid} is bad` }]);
  return {
    metadata: annotation === undefined ? {} : { annotations: { [failedCopiesKey]: annotation } },
    status: { diskFileStatusMap: Object.fromEntries(entries) },
  };
}

/** The annotation after so many failures on disk d1. */
function failures(count: number): string {
  let text: string | undefined;
  for (let at = 0; at < count; at += 1) text = withFailures(image(text, { d1: 'failed' }), ['d1'], startMs);
  return text ?? '{}';
}

describe('after a failure', () => {
  test.each([
    [1, 30_000],
    [2, minute],
    [3, 2 * minute],
    [5, 8 * minute],
    [6, 10 * minute],
    [50, 10 * minute],
  ])('number %i, the disk is tried again after %i ms', (count, delayMs) => {
    const object = image(failures(count), { d2: 'ready' });
    expect([...failedCopies(object, disks, startMs + delayMs - 1).failedOn]).toEqual(['d1']);
    expect(failedCopies(object, disks, startMs + delayMs - 1).retryAfterMs).toBe(1);
    expect([...failedCopies(object, disks, startMs + delayMs).failedOn]).toEqual([]);
  });

  test('no disk is tried while none has a ready copy, because the source may be the cause', () => {
    const text = withFailures(image(failures(1), { d2: 'failed' }), ['d2'], startMs);
    const at = startMs + 45_000;
    expect(failedCopies(image(text), disks, at)).toEqual({
      failedOn: new Set(),
      isSourceFailing: true,
      retryAfterMs: 15_000,
      message: 'the copy on disk d1 failed: d1 is bad',
    });
    expect(failedCopies(image(text, { d3: 'ready' }), disks, at).isSourceFailing).toBe(false);
    expect(failedCopies(image(text), disks, startMs + minute).isSourceFailing).toBe(false);
  });

  test('it is forgotten after an hour', () => {
    const after = startMs + 60 * minute;
    expect(failedCopies(image(failures(3)), disks, after).message).toBeUndefined();
    expect(JSON.parse(withFailures(image(failures(3), { d2: 'failed' }), ['d2'], after))).toEqual({
      d2: { at: after, count: 1, message: 'd2 is bad' },
    });
  });
});

test.each(['', 'no JSON', 'null', '[]', '{"d1":1}', '{"d1":{"at":"x","count":1,"message":""}}'])(
  'the annotation %j has no failures',
  (text) => {
    expect(failedCopies(image(text), disks, startMs)).toEqual({
      failedOn: new Set(),
      isSourceFailing: false,
      retryAfterMs: undefined,
      message: undefined,
    });
  },
);
