import { describe, expect, test } from 'vitest';
import type { DiskVerdict } from '../../../kube/stowage/disk-schedule.ts';
import type { DiskCandidate } from '../choose-disk.ts';
import type { CopyView, ImageStep, ImageView } from './image-view.ts';
import { idleCopyMaxMs, planImage } from './plan-image.ts';

function image(facts: Partial<ImageView> = {}): ImageView {
  return {
    name: 'i',
    minNumberOfCopies: 1,
    bytes: 10,
    hasReadableLength: true,
    nodeSelector: [],
    diskSelector: [],
    copies: [],
    neededOn: new Map(),
    rejectedBy: new Set(),
    failedOn: new Set(),
    isSourceFailing: false,
    isProtected: true,
    deletion: 'none',
    ...facts,
  };
}

/** `d1` is on node `n1`, and so on. */
function disk(uuid: string, limitBytes = 100, facts: Partial<DiskCandidate> = {}): DiskCandidate {
  return {
    uuid,
    name: uuid,
    nodeName: `n${uuid.slice(1)}`,
    zone: '',
    nodeTags: [],
    diskTags: [],
    state: { kind: 'ready', limitBytes },
    demandBytes: 0,
    grantedBytes: 0,
    ...facts,
  };
}

const granted = (size: number): DiskVerdict => ({
  state: 'scheduled',
  scheduledSize: size,
  observedSize: size,
});
const refused = (asked: number, had = 0): DiskVerdict => ({
  state: 'rejected',
  scheduledSize: had,
  observedSize: asked,
  reason: 'InsufficientStorage',
});

/** A copy that has its bytes, without a file. */
function copy(uuid: string, facts: Partial<CopyView> = {}): CopyView {
  return {
    place: { uuid, nodeName: `n${uuid.slice(1)}`, zone: '' },
    diskName: uuid,
    isWanted: true,
    isEvicted: false,
    isLost: false,
    isDiskReady: true,
    entry: { askedBytes: 10, verdict: granted(10) },
    state: undefined,
    isOverdue: false,
    idleMs: 0,
    ...facts,
  };
}

const ready = (uuid: string, facts: Partial<CopyView> = {}) => copy(uuid, { state: 'ready', ...facts });
const rejectedCopy = (uuid: string, facts: Partial<CopyView> = {}) =>
  copy(uuid, { entry: { askedBytes: 10, verdict: refused(10) }, ...facts });
const unasked = { askedBytes: undefined, verdict: undefined };

/** Steps as `withdraw d1`, `place +d2 -d1`, `request d2 10`. */
function text(steps: readonly ImageStep[]): readonly string[] {
  return steps.map((step) => {
    if (step.kind === 'unprotect') return step.kind;
    if (step.kind === 'request') return `request ${step.diskUUID} ${step.bytes}`;
    if (step.kind !== 'place') return `${step.kind} ${step.diskUUID}`;
    const { add, remove } = step;
    return ['place', ...add.map((uuid) => `+${uuid}`), ...remove.map((uuid) => `-${uuid}`)].join(' ');
  });
}

function plan(view: ImageView, ...disks: readonly DiskCandidate[]) {
  const { steps, allocation } = planImage(view, disks);
  return { allocation, steps: text(steps), raw: steps };
}

describe('copies that there should be', () => {
  test('the fewest, on different nodes if possible, on the disks with the most room', () => {
    const disks = [disk('d1', 50), disk('d2', 90), disk('d3', 90, { nodeName: 'n2' })];
    expect(plan(image({ minNumberOfCopies: 2 }), ...disks).steps).toEqual([
      'place +d2 +d1',
      'request d2 10',
      'request d1 10',
    ]);
    expect(plan(image({ minNumberOfCopies: 3 }), ...disks).steps[0]).toBe('place +d2 +d1 +d3');
  });

  test('requests without a verdict count: a burst spreads', () => {
    expect(plan(image(), disk('d1', 100, { demandBytes: 30 }), disk('d2', 80)).steps[0]).toBe('place +d2');
  });

  test('tags of nodes and disks are respected, and disks that are closed or unknown are left out', () => {
    const tags = { nodeTags: ['rack1'], diskTags: ['nvme'] };
    const disks = [
      disk('d1'),
      disk('d2', 50, tags),
      disk('d3', 90, { ...tags, state: { kind: 'unknown', message: 'gone' } }),
      disk('d4', 90, {
        ...tags,
        state: { kind: 'ready', limitBytes: 90, closed: { reason: 'SchedulingDisabled', message: 'closed' } },
      }),
    ];
    const view = image({ nodeSelector: ['rack1'], diskSelector: ['nvme'] });
    expect(plan(view, ...disks).steps[0]).toBe('place +d2');
  });

  test('each disk with a replica, and these count among the fewest', () => {
    const neededOn = new Map([
      ['d3', 'v-r1'],
      ['d2', 'v-r0'],
    ]);
    const view = image({ minNumberOfCopies: 2, neededOn });
    expect(plan(view, disk('d1'), disk('d2'), disk('d3', 5)).steps[0]).toBe('place +d2 +d3');
    expect(plan(image({ neededOn, copies: [ready('d2')] }), disk('d2'), disk('d3')).steps).toEqual([
      'place +d3',
      'request d3 10',
    ]);
  });

  test('a needed copy stays on its disk if that rejects it, and the refusal names the disk and the missing bytes', () => {
    const neededOn = new Map([['d1', 'v-r0']]);
    const view = image({ neededOn, copies: [rejectedCopy('d1'), ready('d2')] });
    expect(plan(image({ neededOn, copies: [rejectedCopy('d1')] }), disk('d1'), disk('d2')).steps).toEqual([
      'place +d2',
      'request d2 10',
    ]);
    expect(plan(view, disk('d1', 16, { grantedBytes: 10, demandBytes: 20 }), disk('d2'))).toMatchObject({
      steps: [],
      allocation: {
        kind: 'waiting-for-disk',
        message: 'the copy on disk d1 on node n1: 6 bytes free, 10 requested: 4 missing',
      },
    });
  });

  test('a disk whose schedule is full gets no further request', () => {
    const full = disk('d1', 100, { entryCount: 4000 });
    expect(plan(image({ neededOn: new Map([['d1', 'v-r0']]) }), full, disk('d2'))).toMatchObject({
      steps: ['place +d2', 'request d2 10'],
      allocation: {
        message: 'the copy on disk d1 on node n1: the disk has the most replicas and images that it can have',
      },
    });
  });

  test('the refusal of a further copy names the disk that lacks the fewest bytes, or says that all have one', () => {
    expect(plan(image(), disk('d1', 4), disk('d2', 7)).allocation).toEqual({
      kind: 'waiting-for-disk',
      bytes: 10,
      message:
        'one more copy: none of 2 disks fits; the closest is d2 on node n2: 7 bytes free, 10 requested: 3 missing',
    });
    const view = image({ minNumberOfCopies: 2, copies: [ready('d1')] });
    expect(plan(view, disk('d1')).allocation).toMatchObject({
      message: 'each of the 1 disks has a copy already',
    });
    expect(plan(image()).allocation).toMatchObject({
      message: expect.stringContaining('there are no disks'),
    });
  });

  test('the finalizer comes with the first placement, or alone', () => {
    expect(plan(image({ isProtected: false, copies: [ready('d1')] }), disk('d1')).steps).toEqual(['place']);
    const blocked = image({ isProtected: false, copies: [ready('d1')], deletion: 'blocked' });
    expect(plan(blocked, disk('d1')).steps).toEqual([]);
  });
});

describe('requests', () => {
  test('a placement without a request is requested again, and one for another size too', () => {
    expect(plan(image({ copies: [copy('d1', { entry: unasked })] }), disk('d1')).steps).toEqual([
      'request d1 10',
    ]);
    expect(plan(image({ bytes: 12, copies: [ready('d1')] }), disk('d1')).steps).toEqual(['request d1 12']);
  });

  test('without any known size one copy is placed, whose agent reads the size, and nothing is requested', () => {
    const blind = { bytes: undefined, minNumberOfCopies: 2 } as const;
    expect(plan(image(blind), disk('d1'), disk('d2'))).toMatchObject({
      steps: ['place +d1'],
      allocation: { kind: 'size-unknown', isReadable: true },
    });
    const copies = [copy('d1', { entry: unasked })];
    const needed = { neededOn: new Map([['d2', 'v-r0']]) };
    expect(plan(image({ ...blind, ...needed, copies }), disk('d1'), disk('d2')).steps).toEqual([]);
    expect(plan(image({ ...blind, ...needed }), disk('d1'), disk('d2')).steps).toEqual(['place +d2']);
    // Another agent reads it if that one does not answer.
    const away = [copy('d1', { entry: unasked, isDiskReady: false })];
    const moved = plan(image({ ...blind, copies: away }), disk('d2'));
    expect(moved.steps).toEqual(['place +d2 -d1']);
  });

  test('an upload without a known size gets no disk', () => {
    const view = image({ bytes: undefined, hasReadableLength: false, neededOn: new Map([['d1', 'v-r0']]) });
    expect(plan(view, disk('d1'))).toMatchObject({
      steps: [],
      allocation: { kind: 'size-unknown', isReadable: false },
    });
  });

  test('a rejected copy goes to another disk, and stays where it is if there is none', () => {
    const view = image({ copies: [rejectedCopy('d1')] });
    const full = disk('d1', 15, { demandBytes: 10, grantedBytes: 10 });
    const moved = plan(view, full, disk('d2'));
    expect(moved.steps).toEqual(['withdraw d1', 'place +d2 -d1', 'request d2 10']);
    expect(moved.raw[1]).toMatchObject({ rejectedBy: ['d1'], failedOn: [] });
    expect(plan(view, full)).toMatchObject({
      steps: [],
      allocation: {
        message: 'one more copy: the only disk is d1 on node n1: 5 bytes free, 10 requested: 5 missing',
      },
    });
  });

  test('a rejected copy that its agent has noted as pending is withdrawn too', () => {
    const view = image({ copies: [rejectedCopy('d1', { state: 'pending' })] });
    expect(plan(view, disk('d1', 5), disk('d2')).steps).toEqual([
      'withdraw d1',
      'place +d2 -d1',
      'request d2 10',
    ]);
  });

  test('a copy whose disk does not answer now is not moved, because its data may be there', () => {
    const entry = { askedBytes: 12, verdict: granted(10) };
    const copies = [copy('d1', { entry, state: 'unknown', isOverdue: true })];
    expect(plan(image({ bytes: 12, copies }), disk('d1'), disk('d2')).steps).toEqual([]);
  });

  test('a rejected copy with a part of its file gives its bytes back when the file is gone', () => {
    const entry = { askedBytes: 12, verdict: refused(12, 10) };
    const view = image({ bytes: 12, copies: [copy('d1', { entry, state: 'in-progress' })] });
    expect(plan(view, disk('d1', 10), disk('d2')).steps).toEqual(['place +d2 -d1', 'request d2 12']);
    const after = image({
      bytes: 12,
      copies: [
        copy('d1', { entry, isWanted: false }),
        copy('d2', { entry: { askedBytes: 12, verdict: granted(12) } }),
      ],
    });
    expect(plan(after, disk('d1', 10), disk('d2')).steps).toEqual(['release d1']);
  });

  test('a verdict on another size is no answer, and a disk that does not answer in time is left', () => {
    const entry = { askedBytes: 10, verdict: refused(99) };
    expect(plan(image({ copies: [copy('d1', { entry })] }), disk('d1'), disk('d2'))).toMatchObject({
      steps: [],
      allocation: { kind: 'waiting-for-verdict' },
    });
    const overdue = copy('d1', { entry: { askedBytes: 10, verdict: undefined }, isOverdue: true });
    const lost = disk('d1', 0, { state: { kind: 'unknown', message: 'not ready' } });
    expect(plan(image({ copies: [overdue] }), lost, disk('d2')).steps).toEqual([
      'withdraw d1',
      'place +d2 -d1',
      'request d2 10',
    ]);
    expect(plan(image({ copies: [overdue] }), lost).steps).toEqual([]);
  });

  test('a disk that rejected or failed a copy a while ago is not chosen', () => {
    const disks = [disk('d1'), disk('d2', 50), disk('d3', 20)];
    const view = image({ rejectedBy: new Set(['d1']), failedOn: new Set(['d2']) });
    expect(plan(view, ...disks).steps[0]).toBe('place +d3');
  });
});

describe('copies that go', () => {
  test('an evicted copy goes when the new one is ready', () => {
    const old = ready('d1', { isEvicted: true });
    const disks = [disk('d1'), disk('d2')];
    expect(plan(image({ copies: [old] }), ...disks).steps).toEqual(['place +d2', 'request d2 10']);
    expect(plan(image({ copies: [old, copy('d2', { state: 'in-progress' })] }), ...disks).steps).toEqual([]);
    expect(plan(image({ copies: [old, ready('d2')] }), ...disks).steps).toEqual(['place -d1']);
    expect(
      plan(image({ copies: [{ ...old, isWanted: false, state: undefined }, ready('d2')] }), ...disks).steps,
    ).toEqual(['release d1']);
  });

  test('an evicted copy without a file goes when the new one has its bytes', () => {
    const copies = [copy('d1', { isEvicted: true }), copy('d2')];
    expect(plan(image({ copies }), disk('d1'), disk('d2')).steps).toEqual(['place -d1', 'release d1']);
  });

  test('an evicted copy that a replica needs stays, and the plan says so', () => {
    const copies = [ready('d1', { isEvicted: true }), ready('d2')];
    const view = image({ copies, neededOn: new Map([['d1', 'v-r0']]) });
    expect(plan(view, disk('d1'), disk('d2'))).toMatchObject({
      steps: [],
      allocation: { staying: ['the copy on disk d1 on node n1 stays while replica v-r0 is there'] },
    });
  });

  test('a copy whose disk was removed is replaced', () => {
    const lost = { isLost: true, entry: unasked };
    expect(plan(image({ copies: [copy('d1', lost)] }), disk('d2')).steps).toEqual([
      'place +d2 -d1',
      'request d2 10',
    ]);
    expect(plan(image({ copies: [ready('d1', lost)] }), disk('d2')).steps[0]).toBe('place +d2');
    expect(plan(image({ copies: [ready('d1', lost), ready('d2')] }), disk('d2')).steps[0]).toBe('place -d1');
    // A disk that was removed by force keeps its schedule until all entries are deleted.
    const removed = disk('d1', 0, { state: { kind: 'unknown', message: 'dead', isRemoved: true } });
    const neededOn = new Map([['d1', 'v-r0']]);
    const view = image({ copies: [copy('d1', { isLost: true }), ready('d2')], neededOn });
    expect(plan(view, removed, disk('d2')).steps).toEqual(['place -d1', 'release d1']);
    expect(plan(image({ copies: [ready('d2')], neededOn }), removed, disk('d2')).steps).toEqual([]);
  });

  test('a failed copy is removed, and nothing is placed in the same step', () => {
    const failed = copy('d1', { state: 'failed' });
    const removed = plan(image({ copies: [failed] }), disk('d1'), disk('d2'));
    expect(removed.steps).toEqual(['place -d1']);
    expect(removed.raw[0]).toMatchObject({ failedOn: ['d1'] });
    expect(removed.allocation).toEqual({ kind: 'retrying-later' });
    expect(plan(image({ isSourceFailing: true }), disk('d1')).steps).toEqual([]);
    const neededOn = new Map([['d1', 'v-r0']]);
    const view = image({ copies: [ready('d2')], neededOn, failedOn: new Set(['d1']) });
    expect(plan(view, disk('d1'), disk('d2'))).toMatchObject({
      steps: [],
      allocation: { kind: 'retrying-later' },
    });
  });

  test('a surplus copy on a disk that does not answer goes before one that can be read', () => {
    const idle = { idleMs: idleCopyMaxMs };
    const away = ready('d1', { ...idle, isDiskReady: false });
    expect(plan(image({ copies: [away, ready('d2', idle)] })).steps).toEqual(['place -d1']);
    expect(plan(image({ copies: [ready('d1', idle), { ...away, place: copy('d2').place }] })).steps).toEqual([
      'place -d2',
    ]);
  });

  test('a surplus copy stays while the other one can not be read', () => {
    const copies = ['d1', 'd2'].map((uuid) => ready(uuid, { idleMs: idleCopyMaxMs, isDiskReady: false }));
    expect(plan(image({ copies })).steps).toEqual([]);
  });

  test('copies that nothing needs go an hour after their last use, the longest unused first', () => {
    const idle = (uuid: string, idleMs: number) => ready(uuid, { idleMs });
    const disks = ['d1', 'd2', 'd3'].map((uuid) => disk(uuid));
    const step = (...copies: readonly CopyView[]) => plan(image({ copies }), ...disks).steps;
    expect(step(idle('d1', idleCopyMaxMs - 1), idle('d2', 0))).toEqual([]);
    expect(step(idle('d1', idleCopyMaxMs), idle('d2', 0))).toEqual(['place -d1']);
    expect(step(idle('d1', idleCopyMaxMs), idle('d2', idleCopyMaxMs + 1))).toEqual(['place -d2']);
    expect(step(idle('d1', idleCopyMaxMs), copy('d2', { state: 'in-progress' }))).toEqual([]);
    expect(step(rejectedCopy('d1'), ready('d2'))).toEqual(['place -d1', 'release d1']);
  });
});

describe('deletion', () => {
  test('no copy is wanted, bytes are released when the files are gone, and then the finalizer goes', () => {
    const free = { deletion: 'free' } as const;
    const step = (...copies: readonly CopyView[]) => plan(image({ ...free, copies }), disk('d1')).steps;
    expect(step(ready('d1'), copy('d2'))).toEqual(['place -d1 -d2', 'release d2']);
    expect(step(ready('d1', { isWanted: false }))).toEqual([]);
    expect(step(copy('d1', { isWanted: false }))).toEqual(['release d1', 'unprotect']);
    expect(step()).toEqual(['unprotect']);
    expect(plan(image({ ...free, isProtected: false })).steps).toEqual([]);
  });

  test('while a volume uses the image, copies are kept and made', () => {
    const view = image({ deletion: 'blocked', neededOn: new Map([['d2', 'v-r0']]), copies: [ready('d1')] });
    expect(plan(view, disk('d1'), disk('d2')).steps).toEqual(['place +d2', 'request d2 10']);
  });
});
