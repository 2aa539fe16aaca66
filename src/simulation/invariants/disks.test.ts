import { expect, test } from 'vitest';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { DiskSchedule, DiskScheduleStatus, DiskVerdict } from '../../kube/stowage/disk-schedule.ts';
import { diskInvariants, unrestedDisks } from './disks.ts';
import { StoredState } from './stored-state.ts';

const encoder = new TextEncoder();
const ready = { type: 'Ready', status: 'True', reason: 'DiskReady', message: '' } as const;

function granted(size: number): DiskVerdict {
  return { state: 'scheduled', scheduledSize: size, observedSize: size };
}

type Version = readonly [bucket: string, key: string, object: KubeObject | undefined];

/** A store that has had these versions, in order; undefined removes the object. */
function stored(...versions: readonly Version[]) {
  const state = new StoredState(diskInvariants);
  for (const [at, [bucket, key, object]] of versions.entries()) {
    const entry = { key, revision: at + 1, bytes: encoder.encode(JSON.stringify(object ?? {})) };
    state.written({
      type: object === undefined ? 'delete' : 'put',
      bucket,
      entry,
      previous: undefined,
    } as never);
  }
  return state;
}

function schedule(
  replicas: Readonly<Record<string, number>>,
  verdicts: Readonly<Record<string, DiskVerdict>>,
  facts: DiskScheduleStatus = {},
  limit: { readonly storageLimit?: number } = { storageLimit: 100 },
): readonly [string, string, DiskSchedule] {
  const storageScheduled = Object.values(verdicts).reduce((sum, one) => sum + (one.scheduledSize ?? 0), 0);
  const status = { ...limit, storageScheduled, conditions: [ready], replicas: verdicts, ...facts };
  return ['diskschedules.stowage.dev', 'd', { metadata: { name: 'd' }, spec: { replicas }, status }];
}

function replica(
  name: string,
  spec: Readonly<Record<string, unknown>>,
): readonly [string, string, KubeObject & { spec: object }] {
  const all = { volumeName: 'v', volumeSize: 10, nodeID: 'n', diskID: 'd', ...spec };
  return ['replicas.stowage.dev', name, { metadata: { name }, spec: all }];
}

test('versions as the controller writes them break no invariant', () => {
  const state = stored(
    schedule({ a: 10 }, {}, { conditions: [] }),
    schedule({ a: 10 }, { a: granted(10) }),
    replica('a', { desiredState: 'running' }),
    schedule({ a: 30 }, { a: granted(30) }),
    replica('a', { desiredState: 'running', volumeSize: 30 }),
    ['volumes.stowage.dev', 'v', { metadata: { name: 'v' }, status: { size: 30 } } as KubeObject],
    // Fewer bytes are requested, and the volume keeps its size.
    schedule({ a: 10 }, { a: { ...granted(30), observedSize: 10 } }),
    schedule({}, {}),
    ['diskschedules.stowage.dev', 'd', undefined],
  );
  expect(state.violations).toEqual([]);
});

const volumeOf = (status: object): Version => [
  'volumes.stowage.dev',
  'v',
  { metadata: { name: 'v' }, status } as KubeObject,
];
const expanding = (state: string, size = 30) => volumeOf({ size: 10, expansion: { size, state } });

test.each([
  [
    'an expansion is committed when all replicas have the bytes, and then not withdrawn',
    [
      schedule({ a: 10 }, { a: granted(10) }),
      replica('a', { desiredState: 'running' }),
      expanding('Committed'),
    ],
  ],
  [
    'an expansion is committed when all replicas have the bytes, and then not withdrawn',
    [expanding('Committed'), expanding('Withdrawn')],
  ],
  [
    'a disk releases no bytes that a volume has committed',
    [
      schedule({ a: 30 }, { a: granted(30) }),
      replica('a', { desiredState: 'running' }),
      expanding('Committed'),
      schedule({ a: 10 }, { a: granted(10) }),
    ],
  ],
  [
    'a disk releases no bytes that a volume has committed',
    [
      schedule({ a: 10 }, { a: granted(10) }),
      replica('a', { desiredState: 'running' }),
      expanding('Withdrawn'),
      schedule({ a: 5 }, { a: granted(5) }),
    ],
  ],
  ['what a disk grants fits within its limit', [schedule({ a: 101 }, { a: granted(101) })]],
  ['what a disk grants fits within its limit', [schedule({ a: 1 }, { a: granted(1) }, {}, {})]],
  [
    'the sum of a disk is the sum of its entries',
    [schedule({ a: 10 }, { a: granted(10) }, { storageScheduled: 9 })],
  ],
  ['a verdict answers a request', [schedule({}, { a: granted(10) })]],
  ['a pass answers every request', [schedule({ a: 10, b: 10 }, { a: granted(10) })]],
  ['a pass answers every request', [schedule({ a: 10 }, { a: granted(9) })]],
  [
    'a pass answers every request',
    [schedule({ a: 10 }, { a: { state: 'rejected', scheduledSize: 5, observedSize: 10 } })],
  ],
  [
    'no grant is revoked',
    [
      schedule({ a: 10 }, { a: granted(10) }),
      schedule(
        { a: 10 },
        { a: { state: 'rejected', scheduledSize: 0, observedSize: 10 } },
        { conditions: [] },
      ),
    ],
  ],
  [
    'every write of a DiskSchedule changes it',
    [schedule({ a: 10 }, { a: granted(10) }), schedule({ a: 10 }, { a: granted(10) })],
  ],
  [
    'a DiskSchedule with entries is not removed',
    [schedule({ a: 10 }, { a: granted(10) }), ['diskschedules.stowage.dev', 'd', undefined]],
  ],
  ['a replica is started only with its bytes', [replica('a', { desiredState: 'running' })]],
  [
    'a replica grows when all replicas of its volume have the bytes',
    [
      schedule({ a: 30, b: 30 }, { a: granted(30), b: granted(10) }, { conditions: [] }),
      replica('a', { desiredState: 'running' }),
      replica('b', { desiredState: 'running' }),
      replica('a', { desiredState: 'running', volumeSize: 30 }),
    ],
  ],
  [
    'the size of a volume is that of all of its replicas',
    [
      schedule({ a: 10 }, { a: granted(10) }),
      replica('a', { desiredState: 'running' }),
      ['volumes.stowage.dev', 'v', { metadata: { name: 'v' }, status: { size: 30 } } as KubeObject],
    ],
  ],
] satisfies readonly (readonly [string, readonly Version[]])[])(
  '%s: what breaks it is found',
  (name, versions) => {
    const { violations } = stored(...versions);
    expect(violations.map(({ invariant }) => invariant)).toContain(name);
  },
);

test('at rest, requests without verdict or owner and leftovers of refused expansions are found', () => {
  const refused = { type: 'DiskAllocation', status: 'False', reason: 'ExpansionRejected', message: '' };
  const state = stored(
    schedule({ a: 10, b: 10 }, { a: granted(10) }, { conditions: [ready] }),
    replica('a', { desiredState: 'running' }),
    [
      'volumes.stowage.dev',
      'v',
      { metadata: { name: 'v' }, status: { size: 5, conditions: [refused] } } as KubeObject,
    ],
  );
  expect(unrestedDisks(state)).toEqual([
    'd has not answered replicas/b',
    'a still requests an expansion that was refused',
    'd has the request of b, which is not on that disk',
  ]);
});
