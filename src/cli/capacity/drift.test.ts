import { describe, expect, test } from 'vitest';
import { driverCapacity, storageCapacity, storageClass } from '../../engine/testing/objects.ts';
import {
  type DriftKind,
  type DriftList,
  type DriftRecord,
  formatDriftRecord,
} from '../../kube/stowage/drift-record.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { measureDrift } from '../../queries/capacity/measure-drift.ts';
import { nodeWith, viewOf } from '../../queries/testing/cluster-views.ts';
import { plainTerminal } from '../output/terminal.ts';
import { driftNames, renderDrift } from './render-drift.ts';

const mixed = {
  shrunk: '12Gi',
  foreign: {
    count: 7,
    storage: '7Gi',
    volumes: ['v1', 'v2', 'v3', 'v4', 'v5'].map((id) => ({ id, storage: '1Gi' })),
  },
  leaked: { count: 1, storage: '1Gi', volumes: [{ id: 'pvc-1', storage: '1Gi' }] },
};
const lost = { lost: { count: 1, storage: '10Gi', volumes: [{ id: 'pv-1', storage: '10Gi' }] } };
const nowMs = Date.parse('2026-01-01T12:00:00Z');
const figure = { measuredAt: '2026-01-01T08:00:00Z', free: '80Gi', ours: '0', otherClasses: '0' };

function recordOf(kind: DriftKind, difference: string): DriftRecord {
  const last = { ...figure, measuredAt: '2026-01-01T11:00:00Z', free: '70Gi' };
  const since = kind === 'none' ? {} : { since: '2026-01-01T09:00:00Z' };
  return { baseline: figure, last, kind, difference, ...since };
}

const none = { count: 0, storage: '0', volumes: [] };

/** As if the driver had listed its volumes. */
function listedRecord(kind: DriftKind, difference: string, listed: Partial<DriftList>): DriftRecord {
  return {
    ...recordOf(kind, difference),
    listed: { foreign: none, leaked: none, lost: none, shrunk: '0', ...listed },
  };
}

function pool(name: string, drift: string | undefined) {
  const made = storageCapacity(name, 'fast', { capacity: '70Gi', nodeTopology: {} });
  const marks = drift === undefined ? {} : { [annotations.drift]: drift };
  return { ...made, metadata: { ...made.metadata, annotations: marks } };
}

function report(storageClassName?: string) {
  const view = viewOf(
    {
      Node: [nodeWith('n1', '4')],
      StorageClass: [storageClass('fast', { provisioner: 'd' })],
      CSIStorageCapacity: [
        pool('a-quiet', formatDriftRecord(recordOf('none', '0'))),
        pool('b-foreign', formatDriftRecord(recordOf('foreign-use', '-10Gi'))),
        pool('c-silent', undefined),
        pool('d-edited', '{"kind":"leak"}'),
        pool('e-leak', formatDriftRecord(recordOf('leak', '-5Gi'))),
        pool('f-shrunk', formatDriftRecord(listedRecord('shrunk', '-20Gi', mixed))),
        pool('g-lost', formatDriftRecord(listedRecord('lost', '10Gi', lost))),
      ],
      DriverCapacity: [
        driverCapacity('pmem', [
          { storageClassName: 'other', pools: [] },
          {
            storageClassName: '<ephemeral>',
            pools: [
              { name: 'n0', capacity: '1Gi' },
              { name: "it's", capacity: '1Gi', drift: recordOf('grown', '30Gi') },
            ],
          },
        ]),
      ],
    },
    { unseen: [] },
  );
  return measureDrift(view, { nowMs, storageClass: storageClassName });
}

const textOf = (isWide: boolean, storageClassName?: string) =>
  renderDrift(report(storageClassName), { terminal: plainTerminal, isWide, nowMs });

describe('drift', () => {
  test('is shown by pool: reported, sum of our volumes, foreign, shrunk, difference, since when, and what a person can do', async () => {
    await expect(textOf(false)).toMatchFileSnapshot('./testing/golden/drift.txt');
    await expect(textOf(true)).toMatchFileSnapshot('./testing/golden/drift-wide.txt');
    await expect(`${JSON.stringify(report(), undefined, 2)}\n`).toMatchFileSnapshot(
      './testing/golden/drift-json.txt',
    );
    expect(driftNames(report()).split('\n')).toEqual([
      "drivercapacity/it's",
      'csistoragecapacity/storage/b-foreign',
      'csistoragecapacity/storage/e-leak',
      'csistoragecapacity/storage/f-shrunk',
      'csistoragecapacity/storage/g-lost',
      '',
    ]);
  });

  test('can be asked for by class', () => {
    expect(report('<ephemeral>').pools.map(({ pool }) => pool)).toEqual(["it's", 'n0']);
  });

  test('is unknown if the publisher does not compare, or a person has edited the record', () => {
    const unknown = report().pools.filter(({ cause }) => cause === 'unknown');
    expect(unknown.map(({ pool, difference }) => [pool, difference])).toEqual([
      ['n0', undefined],
      ['storage/c-silent', undefined],
      ['storage/d-edited', undefined],
    ]);
    expect(report().notes).toMatchObject([
      { about: 'unseen', text: expect.stringMatching(/^3 pools have no/) },
    ]);
  });

  test('has a command that accepts it, whatever the names are', () => {
    const grown = report().pools.find(({ cause }) => cause === 'grown');
    expect(grown?.proposals.at(-1)).toBe(
      'to accept the difference: kubectl patch drivercapacity pmem --subresource=status --type=json -p ' +
        `'[{"op":"test","path":"/status/storage/1/pools/1/name","value":"it'\\''s"},{"op":"remove","path":"/status/storage/1/pools/1/drift"}]'`,
    );
  });

  test('of local drives is not reported: their ledgers list their volumes', () => {
    const view = viewOf(
      {
        StorageClass: [storageClass('fast', { provisioner: drivesDriver })],
        CSIStorageCapacity: [pool('a', undefined), pool('b', formatDriftRecord(recordOf('leak', '-5Gi')))],
      },
      { unseen: [] },
    );
    expect(measureDrift(view, { nowMs })).toMatchObject({ pools: [], notes: [] });
  });

  test('of an empty cluster is nothing to compare', () => {
    const empty = measureDrift(viewOf({}, { unseen: [] }), { nowMs });
    expect(renderDrift(empty, { terminal: plainTerminal, isWide: false, nowMs })).toMatch(
      /^Nothing to compare: .*\n$/,
    );
  });
});
