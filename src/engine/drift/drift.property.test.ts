import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import type { DriftRecord } from '../../kube/stowage/drift-record.ts';
import { annotations } from '../../kube/well-known.ts';
import { driftOf } from './drift-of.ts';
import { DriverVolumes } from './driver-volumes.ts';

const driver = 'csi.example.com';
const gib = 1024n ** 3n;
const totalBytes = 1000n * gib;
const startMs = Date.parse('2026-01-01T00:00:00Z');

interface Life {
  readonly kind: 'volume';
  readonly atMs: number;
  readonly size: number;
  readonly other: boolean;
  readonly exactTime: boolean;
  /** How long each step takes: the driver creates, the volume's and the claim's objects are seen; the same for its deletion. */
  readonly steps: readonly number[];
  readonly isDeleted: boolean;
}
interface Foreign {
  readonly kind: 'foreign';
  readonly atMs: number;
  readonly size: number;
}
interface Measurement {
  readonly kind: 'measure';
  readonly atMs: number;
  /** How long after the time of the measurement the driver computes the capacity report, and how long after that the publisher compares it. */
  readonly computesAfterMs: number;
  readonly arrivesAfterMs: number;
}
type Plan = Life | Foreign | Measurement;

/** The events of a history, in the order of time. */
class Timeline {
  readonly #steps: { readonly atMs: number; readonly run: () => void }[] = [];

  at(atMs: number, run: () => void): void {
    this.#steps.push({ atMs, run });
  }

  run(): void {
    for (const { run } of this.#steps.sort((a, b) => a.atMs - b.atMs)) run();
  }
}

function claimOf(name: string, { size, other }: Life, isBound: boolean): PersistentVolumeClaim {
  return {
    metadata: {
      namespace: 'default',
      name,
      annotations: { [annotations.storageProvisioner]: driver, [annotations.selectedNode]: 'n1' },
    },
    spec: {
      storageClassName: other ? 'slow' : 'fast',
      resources: { requests: { storage: `${size}Gi` } },
      ...(isBound && { volumeName: `pv-${name}` }),
    },
    status: isBound ? { phase: 'Bound', capacity: { storage: `${size}Gi` } } : { phase: 'Pending' },
  };
}

function volumeOf(name: string, life: Life, createdAtMs: number, isReleased: boolean): PersistentVolume {
  const { size, other, exactTime } = life;
  const exact = new Date(createdAtMs).toISOString();
  return {
    metadata: {
      name: `pv-${name}`,
      creationTimestamp: `${exact.slice(0, 19)}Z`,
      annotations: exactTime ? { [annotations.volumeCreatedAt]: exact } : {},
    },
    spec: {
      storageClassName: other ? 'slow' : 'fast',
      capacity: { storage: `${size}Gi` },
      persistentVolumeReclaimPolicy: 'Delete',
      csi: { driver, volumeHandle: name },
    },
    status: { phase: isReleased ? 'Released' : 'Bound' },
  };
}

/** Replays a history against a driver that counts every byte, and a publisher that sees objects late. Returns each record. */
function replay(plans: readonly Plan[], sharesDisks: boolean): readonly (DriftRecord | undefined)[] {
  const timeline = new Timeline();
  const known = new DriverVolumes({ driver, servesClass: () => true, labelsOf: () => ({}) });
  const records: (DriftRecord | undefined)[] = [undefined];
  let takenBytes = 0n;
  for (const [at, plan] of plans.entries()) {
    if (plan.kind === 'volume') live(`v${at}`, plan);
    else if (plan.kind === 'foreign')
      timeline.at(plan.atMs, () => {
        takenBytes += BigInt(plan.size) * gib;
      });
    else measure(plan);
  }
  measure({ kind: 'measure', atMs: startMs + 100_000, computesAfterMs: 0, arrivesAfterMs: 0 });
  timeline.run();
  return records;

  function live(name: string, life: Life): void {
    const bytes = life.other && !sharesDisks ? 0n : BigInt(life.size) * gib;
    const [create = 0, object = 0, see = 0, bind = 0, keep = 0, remove = 0, end = 0] = life.steps;
    const madeMs = life.atMs + create;
    timeline.at(life.atMs, () => known.setClaim(claimOf(name, life, false)));
    timeline.at(madeMs, () => {
      takenBytes += bytes;
    });
    const createdAtMs = life.exactTime ? madeMs : madeMs + object;
    timeline.at(madeMs + object + see, () => known.setVolume(volumeOf(name, life, createdAtMs, false)));
    timeline.at(madeMs + object + bind, () => known.setClaim(claimOf(name, life, true)));
    if (!life.isDeleted) return;
    const releasedMs = madeMs + object + Math.max(see, bind) + keep;
    timeline.at(releasedMs, () => {
      known.deleteClaim('default', name);
      known.setVolume(volumeOf(name, life, createdAtMs, true));
    });
    timeline.at(releasedMs + remove, () => {
      takenBytes -= bytes;
    });
    timeline.at(releasedMs + remove + end, () => known.deleteVolume(`pv-${name}`, releasedMs + remove + end));
  }

  function measure({ atMs, computesAfterMs, arrivesAfterMs }: Measurement): void {
    let freeBytes = 0n;
    timeline.at(atMs + computesAfterMs, () => {
      freeBytes = totalBytes - takenBytes;
    });
    timeline.at(atMs + computesAfterMs + arrivesAfterMs, () => {
      const volumes = known.volumesOf({}, { storageClass: 'fast', measuredAtMs: atMs, segments: [{}] })!;
      records.push(driftOf(records.at(-1), { measuredAtMs: atMs, freeBytes, volumes }));
    });
  }
}

const time = fc.integer({ min: 0, max: 30_000 }).map((ms) => startMs + ms);
const step = fc.integer({ min: 0, max: 5_000 });
const volumes = fc.record({
  kind: fc.constant('volume' as const),
  atMs: time,
  size: fc.integer({ min: 2, max: 20 }),
  other: fc.boolean(),
  exactTime: fc.boolean(),
  steps: fc.array(step, { minLength: 7, maxLength: 7 }),
  isDeleted: fc.boolean(),
});
const measurements = fc.record({
  kind: fc.constant('measure' as const),
  atMs: time,
  computesAfterMs: step,
  arrivesAfterMs: step,
});
const foreign = fc.record({
  kind: fc.constant('foreign' as const),
  atMs: time,
  size: fc.integer({ min: 5, max: 20 }),
});
const baseline: Measurement = {
  kind: 'measure',
  atMs: startMs - 10_000,
  computesAfterMs: 0,
  arrivesAfterMs: 0,
};

test('no order of creations, deletions, late objects and slow answers looks like drift', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(volumes, measurements), { maxLength: 20 }),
      fc.boolean(),
      (plans, shares) => {
        const records = replay([baseline, ...plans], shares);
        for (const record of records) expect(record?.kind ?? 'none').toBe('none');
      },
    ),
    { numRuns: 300 },
  );
});

test('a volume made behind our back is found, with its size, when volumes rest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(volumes, measurements), { maxLength: 15 }),
      fc.array(foreign, { minLength: 1, maxLength: 3 }),
      (plans, others) => {
        const record = replay([baseline, ...plans, ...others], true).at(-1);
        const hidden = others.reduce((sum, { size }) => sum + BigInt(size) * gib, 0n);
        expect(record?.kind).not.toBe('none');
        expect(bytesOf(record!.difference)).toBe(-hidden);
        expect(Date.parse(record!.since!)).toBeGreaterThanOrEqual(
          Math.min(...others.map(({ atMs }) => atMs)) - 10_000,
        );
      },
    ),
    { numRuns: 300 },
  );
});
