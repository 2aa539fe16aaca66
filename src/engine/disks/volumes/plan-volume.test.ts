import { describe, expect, test } from 'vitest';
import type { DiskVerdict } from '../../../kube/stowage/disk-schedule.ts';
import { planVolume } from './plan-volume.ts';
import {
  antiAffinity,
  disk,
  granted,
  on,
  plan,
  refused,
  replica,
  settled,
  volume,
} from './testing/volume-views.ts';
import type { ReplicaView } from './volume-model.ts';

describe('placing', () => {
  test('replicas are created without a place, with names that two instances agree on', () => {
    expect(plan(volume({ numberOfReplicas: 2 })).steps).toEqual(['create v1-r0 10', 'create v1-r1 10']);
    const replicas = [replica('v1-r0', { isDeleting: true }), replica('v1-r2')];
    expect(plan(volume({ numberOfReplicas: 2, replicas })).steps).toEqual(['create v1-r1 10']);
  });

  test('each goes on a node of its own, on the disk with the most room', () => {
    const replicas = [replica('a'), replica('b')];
    const disks = [disk('d1', 50), disk('d2', 90), disk('d3', 90, { nodeName: 'n2' })];
    expect(plan(volume({ numberOfReplicas: 2, replicas }), ...disks).steps).toEqual([
      'assign a d2',
      'request a d2 10',
      'assign b d1',
      'request b d1 10',
    ]);
  });

  test('requests without a verdict count: a burst spreads', () => {
    const disks = [disk('d1', 100, { demandBytes: 30 }), disk('d2', 80)];
    expect(plan(volume({ replicas: [replica('a')] }), ...disks).steps).toEqual([
      'assign a d2',
      'request a d2 10',
    ]);
  });

  test('zones and disks are shared only where there is no other way, unless that is forbidden', () => {
    const inZone = (zone: string) => ({ zone });
    const disks = [disk('d1', 90, inZone('a')), disk('d2', 80, inZone('a')), disk('d3', 20, inZone('b'))];
    const replicas = [settled('a', 'd1', 10, { place: { ...on('d1'), zone: 'a' } }), replica('b')];
    const view = volume({ numberOfReplicas: 2, replicas });
    expect(plan(view, ...disks).steps).toContain('assign b d3');
    expect(plan(view, ...disks.slice(0, 2)).steps).toContain('assign b d2');
    const hard = { ...view, antiAffinity: { ...antiAffinity, zone: 'hard' } as const };
    expect(plan(hard, ...disks.slice(0, 2)).allocation).toEqual({
      kind: 'waiting-for-disk',
      bytes: 10,
      message:
        'replica b: none of 2 disks fits; the closest is d1 on node n1: its node n1 has another replica',
    });
  });

  test('the refusal names the disk that lacks the fewest bytes', () => {
    const disks = [
      disk('d1', 4),
      disk('d2', 7),
      disk('d3', 100, { state: { kind: 'unknown', message: 'gone' } }),
    ];
    expect(plan(volume({ replicas: [replica('a')] }), ...disks).allocation).toEqual({
      kind: 'waiting-for-disk',
      bytes: 10,
      message:
        'replica a: none of 3 disks fits; the closest is d2 on node n2: 7 bytes free, 10 requested: 3 missing',
    });
  });

  test('tags of nodes and disks are respected', () => {
    const tags = { nodeTags: ['rack1'], diskTags: ['nvme'] };
    const view = volume({ replicas: [replica('a')], nodeSelector: ['rack1'], diskSelector: ['nvme'] });
    expect(plan(view, disk('d1', 100), disk('d2', 50, tags)).steps).toContain('assign a d2');
  });

  test('a placement without a request is requested again', () => {
    const replicas = [
      replica('a', { place: on('d1'), entry: { askedBytes: undefined, verdict: undefined } }),
    ];
    expect(plan(volume({ replicas }), disk('d1')).steps).toEqual(['request a d1 10']);
  });
});

describe('after the verdict', () => {
  const waiting = (verdict: DiskVerdict | undefined, facts: Partial<ReplicaView> = {}) =>
    volume({ replicas: [replica('a', { place: on('d1'), entry: { askedBytes: 10, verdict }, ...facts })] });

  test('a replica starts when its bytes are granted', () => {
    const view = waiting(granted(10));
    expect(plan(view, disk('d1'))).toMatchObject({
      steps: ['start a'],
      currentBytes: 10,
      allocation: { kind: 'allocated', bytes: 10 },
    });
    expect(plan(volume({ replicas: [settled('a', 'd1')] }), disk('d1')).steps).toEqual([]);
  });

  test('a rejected request goes to another disk, and stays where it is if there is none', () => {
    const full = disk('d1', 15, { demandBytes: 10, grantedBytes: 10 });
    expect(plan(waiting(refused(10)), full, disk('d2')).steps).toEqual([
      'withdraw a d1',
      'assign a d2',
      'request a d2 10',
    ]);
    expect(plan(waiting(refused(10)), full)).toMatchObject({
      steps: [],
      allocation: {
        kind: 'waiting-for-disk',
        message: 'replica a: the only disk is d1 on node n1: 5 bytes free, 10 requested: 5 missing',
      },
    });
  });

  test('a verdict on another size is no answer', () => {
    const view = waiting(refused(99));
    expect(plan(view, disk('d1'), disk('d2'))).toMatchObject({
      steps: [],
      allocation: { kind: 'waiting-for-verdict' },
    });
  });

  test('a disk that does not answer in time is left', () => {
    const lost = disk('d1', 0, { state: { kind: 'unknown', message: 'not ready' } });
    const view = waiting(undefined, { isOverdue: true });
    expect(plan(view, lost, disk('d2')).steps).toEqual(['withdraw a d1', 'assign a d2', 'request a d2 10']);
    expect(plan(view, lost).steps).toEqual(['withdraw a d1', 'unassign a d1']);
  });

  test('a disk that was removed is left, unless it has the data', () => {
    const gone = (hasData: boolean) => volume({ replicas: [replica('a', { place: on('d1'), hasData })] });
    expect(plan(gone(false), disk('d2')).steps).toEqual(['assign a d2', 'request a d2 10']);
    expect(plan(gone(true), disk('d2'))).toMatchObject({
      steps: [],
      allocation: { message: 'replica a: its disk d1 has no DiskSchedule' },
    });
  });
});

describe('the number of replicas', () => {
  test('a volume that becomes smaller before any replica had data gets other replicas, and later none', () => {
    const large = replica('v1-r0', { sizeBytes: 30 });
    expect(planVolume(volume({ replicas: [large] }), [disk('d1')]).steps).toEqual([
      { kind: 'delete', replica: 'v1-r0' },
    ]);
    const [create] = planVolume(volume({ replicas: [{ ...large, isDeleting: true }] }), [disk('d1')]).steps;
    expect(create).toEqual({ kind: 'create', replica: 'v1-r1', bytes: 10 });
    const filled = { ...large, hasData: true };
    expect(planVolume(volume({ replicas: [filled] }), [disk('d1', 100)]).steps).not.toContainEqual(
      expect.objectContaining({ kind: 'delete' }),
    );
    const allocated = planVolume(volume({ currentBytes: 30, replicas: [large] }), [disk('d1')]);
    expect(allocated.steps).not.toContainEqual(expect.objectContaining({ kind: 'delete' }));
  });

  test('49. a disk with 4000 entries takes no other, although it has bytes; a placement there goes elsewhere', () => {
    const full = disk('d1', 1000, { entryCount: 4000 });
    const chosen = planVolume(volume({ replicas: [replica('v1-r0')] }), [full, disk('d2')]);
    expect(chosen.steps).toMatchObject([{ kind: 'assign', disk: { uuid: 'd2' } }, { kind: 'request' }]);
    const placed = replica('v1-r0', {
      place: on('d1'),
      entry: { askedBytes: undefined, verdict: undefined },
    });
    const moved = planVolume(volume({ replicas: [placed] }), [full, disk('d2')]);
    expect(moved.steps).toMatchObject([{ kind: 'assign', disk: { uuid: 'd2' } }, { kind: 'request' }]);
    const refused = planVolume(volume({ replicas: [placed] }), [full]);
    expect(refused.steps).toMatchObject([{ kind: 'unassign', diskUUID: 'd1' }]);
    expect(refused.allocation).toMatchObject({
      kind: 'waiting-for-disk',
      message: expect.stringMatching(/it has 4000 replicas and images, which is the most$/),
    });
  });

  test('the least valuable go first', () => {
    const replicas = [settled('a', 'd1', 10, { hasData: true }), settled('b', 'd2'), replica('c')];
    expect(plan(volume({ numberOfReplicas: 1, replicas })).steps).toEqual(['delete c', 'delete b']);
  });

  test('an evicted replica is replaced first, and goes when the new one has the data', () => {
    const old = settled('a', 'd1', 10, { hasData: true, place: on('d1', true) });
    const disks = [disk('d1'), disk('d2')];
    const step = (...replicas: readonly ReplicaView[]) =>
      plan(volume({ currentBytes: 10, replicas }), ...disks).steps;
    expect(step(old)).toEqual(['create v1-r0 10']);
    expect(step(old, replica('v1-r0'))).toEqual(['assign v1-r0 d2', 'request v1-r0 d2 10']);
    expect(step(old, settled('v1-r0', 'd2'))).toEqual([]);
    expect(step(old, settled('v1-r0', 'd2', 10, { hasData: true }))).toEqual(['delete a']);
  });

  test('an evicted replica without data goes when the new one has its bytes', () => {
    const old = settled('a', 'd1', 10, { place: on('d1', true) });
    expect(plan(volume({ replicas: [old, settled('b', 'd2')] }), disk('d1'), disk('d2')).steps).toEqual([
      'delete a',
    ]);
  });
});

test('the sentence about disks that do not fit is the same in every instance', () => {
  const view = volume({ numberOfReplicas: 2, replicas: [settled('a', 'd1'), replica('b')] });
  const others = [disk('d3', 100, { nodeName: 'n1' }), disk('d2', 100, { nodeName: 'n1' }), disk('d1')];
  expect(plan(view, ...others).allocation).toMatchObject({ kind: 'waiting-for-disk' });
  expect(plan(view, ...others).allocation).toEqual(plan(view, ...others.toReversed()).allocation);
});

describe('expansion', () => {
  const requested = { bytes: 20, state: 'Requested' } as const;
  const three = (...entries: readonly ReplicaView['entry'][]) =>
    volume({
      wantedBytes: 20,
      currentBytes: 10,
      numberOfReplicas: 3,
      replicas: ['a', 'b', 'c'].map((name, at) =>
        settled(name, `d${at + 1}`, 10, entries[at] === undefined ? {} : { entry: entries[at] }),
      ),
      expansion: entries.length === 0 ? undefined : requested,
    });
  const disks = [disk('d1'), disk('d2', 15, { grantedBytes: 10, demandBytes: 20 }), disk('d3')];
  const asked = { askedBytes: 20 };
  const yes = { ...asked, verdict: granted(20) };
  const no = { ...asked, verdict: refused(20, 10) };
  const open = { ...asked, verdict: granted(10) };

  test('every disk is asked before any replica grows', () => {
    expect(plan(three(), ...disks)).toMatchObject({
      steps: ['request a d1 20', 'request b d2 20', 'request c d3 20'],
      expansion: requested,
    });
    const waiting = { steps: [], currentBytes: 10, expansion: requested };
    expect(plan(three(yes, open, yes), ...disks)).toMatchObject(waiting);
    expect(plan(three(yes, open, no), ...disks)).toMatchObject(waiting);
  });

  test('all accepted: it is committed, and all grow', () => {
    expect(plan(three(yes, yes, yes), ...disks)).toMatchObject({
      steps: ['grow a 20', 'grow b 20', 'grow c 20'],
      expansion: { ...requested, state: 'Committed' },
    });
  });

  test('a grant that is there already does not commit an expansion that the volume has not requested yet', () => {
    const view = { ...three(yes, yes, yes), expansion: undefined };
    expect(plan(view, ...disks)).toMatchObject({ steps: [], expansion: requested });
  });

  test('one rejects: the condition names the disk and the missing bytes, and all go back', () => {
    const first = plan(three(yes, no, yes), ...disks);
    const message = 'expansion to 20 bytes: disk d2 on node n2: 5 bytes free, 10 more requested: 5 missing';
    const expansion = { ...requested, state: 'Withdrawn' } as const;
    expect(first).toMatchObject({
      steps: [],
      currentBytes: 10,
      refusedExpansion: { bytes: 20, message, diskUUID: 'd2' },
      expansion,
    });
    const view = {
      ...three(yes, no, yes),
      expansion,
      refusedExpansion: { bytes: 20, message, diskUUID: 'd2' },
    };
    expect(plan(view, ...disks)).toMatchObject({
      steps: ['request a d1 10', 'request b d2 10', 'request c d3 10'],
      allocation: { kind: 'expansion-refused', message },
      expansion,
    });
    expect(plan({ ...view, replicas: three().replicas }, ...disks).steps).toEqual([]);
  });

  test('a new replica does not start while the others may grow', () => {
    const entry = { ...yes, verdict: granted(20) };
    const created = replica('c', { place: on('d3'), entry });
    const view = three(yes, open, yes);
    const replicas = [...view.replicas.slice(0, 2), created];
    expect(plan({ ...view, replicas }, ...disks).steps).toEqual([]);
    const withdrawn = { ...requested, state: 'Withdrawn' } as const;
    expect(plan({ ...view, replicas, wantedBytes: 10, expansion: withdrawn }, ...disks).steps).toContain(
      'start c',
    );
  });

  test('another size than the refused one is tried at once', () => {
    const view = {
      ...three(),
      wantedBytes: 15,
      refusedExpansion: { bytes: 20, message: '', diskUUID: 'd2' },
    };
    expect(plan(view, ...disks).steps).toContain('request b d2 15');
  });

  test('a request that is taken back before it was committed goes back everywhere', () => {
    expect(plan({ ...three(yes, open, no), wantedBytes: 10 }, ...disks)).toMatchObject({
      steps: ['request a d1 10', 'request b d2 10', 'request c d3 10'],
      allocation: { kind: 'allocated', bytes: 10 },
      expansion: { ...requested, state: 'Withdrawn' },
    });
  });

  test('a committed one is completed, whatever is wanted now', () => {
    const committed = { ...requested, state: 'Committed' } as const;
    const view = { ...three(yes, yes, yes), wantedBytes: 10, expansion: committed };
    const steps = ['grow a 20', 'grow b 20', 'grow c 20'];
    expect(plan(view, ...disks)).toMatchObject({ steps, currentBytes: 10, expansion: committed });
    // Less was requested meanwhile: the disk holds the bytes until they are requested again.
    const lowered = { ...yes, askedBytes: 10 };
    expect(plan({ ...view, replicas: three(yes, lowered, yes).replicas }, ...disks).steps).toEqual([
      'request b d2 20',
    ]);
  });

  test('once a replica has grown, the expansion is completed', () => {
    const replicas = [
      settled('a', 'd1', 20),
      settled('b', 'd2', 10, { entry: yes }),
      settled('c', 'd3', 10, { entry: yes }),
    ];
    const view = volume({ wantedBytes: 10, currentBytes: 10, numberOfReplicas: 3, replicas });
    expect(plan(view, ...disks)).toMatchObject({ steps: ['grow b 20', 'grow c 20'], currentBytes: 10 });
  });

  test('two replicas on one disk requirements each for their own growth', () => {
    const replicas = [settled('a', 'd1'), settled('b', 'd1')];
    const view = volume({ wantedBytes: 20, currentBytes: 10, numberOfReplicas: 2, replicas });
    expect(plan(view, disk('d1')).steps).toEqual(['request a d1 20', 'request b d1 20']);
  });
});
