import { describe, expect, test } from 'vitest';
import { claim, localVolume } from '../testing/objects.ts';
import { DriverVolumes } from './driver-volumes.ts';
import { type ListedVolume, ListedVolumes } from './listed-volumes.ts';

const driver = 'csi.example.com';
const nowMs = Date.parse('2026-01-01T12:00:00Z');
const key = 'kubernetes.io/hostname';
const [a, b] = [{ [key]: 'a' }, { [key]: 'b' }];
const uid = '0c1d2e3f-0000-4000-8000-000000000001';

function knownVolumes(...names: readonly string[]): DriverVolumes {
  const known = new DriverVolumes({ driver, servesClass: () => true, labelsOf: () => a });
  for (const name of names) {
    const made = localVolume(name, '10Gi', 'a');
    known.setVolume({
      metadata: { name, creationTimestamp: '2026-01-01T11:00:00Z' },
      spec: { ...made.spec, csi: { driver, volumeHandle: `id-${name}` } },
      status: { phase: 'Bound' },
    });
  }
  return known;
}

function listed(id: string, rest: Partial<ListedVolume> = {}): ListedVolume {
  return { id, bytes: 5n, topology: [a], context: {}, ...rest };
}

function find(known: DriverVolumes, volumes: readonly ListedVolume[], segment = a, segments = [a, b]) {
  const list = new ListedVolumes(known);
  list.replace(volumes, segments, nowMs);
  const found = list.findingsIn(segment, { measuredAtMs: nowMs, leakedBefore: new Set() });
  const ids = (part: 'foreign' | 'leaked' | 'lost') => found?.[part].map(({ id }) => id).join(' ');
  return `foreign: ${ids('foreign')}; leaked: ${ids('leaked')}; lost: ${ids('lost')}${found?.isComplete ? '' : '; incomplete'}`;
}

describe("the driver's list of volumes", () => {
  test('has volumes of ours, of others in this segment and in others, and lacks some of ours', () => {
    const volumes = [listed('id-v1'), listed('x'), listed('y', { topology: [b] })];
    expect(find(knownVolumes('v1', 'v2'), volumes)).toBe('foreign: x; leaked: ; lost: v2');
    expect(find(knownVolumes('v1', 'v2'), volumes, b)).toBe('foreign: y; leaked: ; lost: ');
  });

  test.each<[string, Partial<ListedVolume>, string]>([
    ['has no size', { bytes: 0n }, 'foreign: x; leaked: ; lost: ; incomplete'],
    ['has no topology', { topology: [] }, 'foreign: ; leaked: ; lost: ; incomplete'],
    ['is in several segments', { topology: [a, b] }, 'foreign: ; leaked: ; lost: ; incomplete'],
    ['has labels that segments lack', { topology: [{ ...a, rack: '1' }] }, 'foreign: x; leaked: ; lost: '],
    ['is where no segment is', { topology: [{ [key]: 'c' }] }, 'foreign: ; leaked: ; lost: '],
    ['names a claim in its context', { context: { pv: `pvc-${uid}` } }, 'foreign: ; leaked: x; lost: '],
  ])('with a volume that %s', (_, rest, expected) => {
    expect(find(knownVolumes(), [listed('x', rest)])).toBe(expected);
  });

  test('of a driver with one segment needs no topology', () => {
    expect(find(knownVolumes(), [listed('x', { topology: [] })], a, [a])).toBe(
      'foreign: x; leaked: ; lost: ',
    );
  });

  test('has a volume whose claim exists: it is being created', () => {
    const known = knownVolumes();
    const made = claim('c', '10Gi');
    known.setClaim({ ...made, metadata: { ...made.metadata, uid } });
    expect(find(known, [listed(`pvc-${uid}`)])).toBe('foreign: ; leaked: ; lost: ');
    known.deleteClaim(made.metadata?.namespace ?? '', 'c');
    expect(find(known, [listed(`pvc-${uid}`)])).toBe(`foreign: ; leaked: pvc-${uid}; lost: `);
  });

  test('may have a volume whose object went meanwhile', () => {
    const known = knownVolumes('v1');
    known.deleteVolume('v1', nowMs + 10);
    expect(find(known, [listed('id-v1')])).toBe('foreign: ; leaked: ; lost: ');
  });

  test('from before a capacity report is incomplete, and changes its signature only with its volumes', () => {
    const list = new ListedVolumes(knownVolumes('v1'));
    const findings = (measuredAtMs: number) =>
      list.findingsIn(a, { measuredAtMs, leakedBefore: new Set() })?.isComplete;
    expect(findings(nowMs)).toBeUndefined();
    const before = list.signatureIn(a);
    list.replace([listed('id-v1')], [a, b], nowMs);
    const first = list.signatureIn(a);
    expect(first).not.toBe(before);
    expect([findings(nowMs), findings(nowMs + 1)]).toEqual([true, false]);
    list.replace([listed('id-v1')], [a, b], nowMs + 60_000);
    expect(list.signatureIn(a)).toBe(first);
    list.replace([], [a, b], nowMs + 120_000);
    expect(list.signatureIn(a)).not.toBe(first);
  });
});
