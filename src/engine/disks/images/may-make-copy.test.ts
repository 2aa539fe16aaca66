import { expect, test } from 'vitest';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule, DiskVerdict } from '../../../kube/stowage/disk-schedule.ts';
import { mayMakeCopy } from './may-make-copy.ts';

interface Sizes {
  readonly size?: number;
  readonly expectedSize?: number;
  readonly sourceSize?: number;
}

function image({ size, expectedSize, sourceSize }: Sizes): BackingImage {
  return {
    metadata: { name: 'i' },
    spec: { diskFileSpecMap: { d1: {} }, ...(expectedSize !== undefined && { expectedSize }) },
    status: { ...(size !== undefined && { size }), ...(sourceSize !== undefined && { sourceSize }) },
  };
}

function schedule(asked: number, verdict?: DiskVerdict): DiskSchedule {
  return {
    spec: { backingImages: { i: asked } },
    status: verdict === undefined ? {} : { backingImages: { i: verdict } },
  };
}

const granted = (bytes: number): DiskVerdict => ({
  state: 'scheduled',
  scheduledSize: bytes,
  observedSize: bytes,
});
const rejected = (asked: number, had: number): DiskVerdict => ({
  state: 'rejected',
  scheduledSize: had,
  observedSize: asked,
});

test.each([
  ['its bytes are granted', image({ size: 10 }), schedule(10, granted(10)), true],
  ['more is granted than it has', image({ size: 8, expectedSize: 10 }), schedule(10, granted(10)), true],
  ['the expected size is granted', image({ expectedSize: 10 }), schedule(10, granted(10)), true],
  ['the length of the source is granted', image({ sourceSize: 10 }), schedule(10, granted(10)), true],
  [
    'a user corrects the length',
    image({ sourceSize: 10, expectedSize: 12 }),
    schedule(10, granted(10)),
    false,
  ],
  ['no size is known', image({}), undefined, false],
  ['no size is known any more', image({}), schedule(10, granted(10)), false],
  ['it has not been requested', image({ size: 10 }), {}, false],
  ['there is no verdict', image({ size: 10 }), schedule(10), false],
  ['the verdict answers another size', image({ size: 10 }), schedule(12, granted(10)), false],
  ['it is rejected', image({ size: 10 }), schedule(10, rejected(10, 0)), false],
  ['less is granted than it has', image({ size: 12, expectedSize: 10 }), schedule(10, granted(10)), false],
])('whether a copy may be made if %s', (_, object, disk, expected) => {
  expect(mayMakeCopy(object, 'd1', disk)).toBe(expected);
  expect(mayMakeCopy(object, 'd2', disk)).toBe(false);
});
