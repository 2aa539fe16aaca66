import { expect, test } from 'vitest';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import type { DiskCandidate } from '../choose-disk.ts';
import { idleCopyMaxMs, planImage } from './plan-image.ts';
import { ImageModel } from './testing/image-model.ts';

const runs = 300;

/** Runs the controller, the deciders and the agents in turn until nothing changes. */
function settle(model: ImageModel, note: string): void {
  for (let round = 0; round < 60; round += 1) {
    const before = JSON.stringify([[...model.disks.values()], [...model.wanted], [...model.files]]);
    for (const step of model.steps()) model.applyPlan(step);
    for (const uuid of model.disks.keys()) model.decide(uuid);
    for (const uuid of model.disks.keys()) model.act(uuid);
    if (JSON.stringify([[...model.disks.values()], [...model.wanted], [...model.files]]) === before) return;
  }
  expect.fail(`${note}: no rest after 60 rounds: ${JSON.stringify(model.steps())}`);
}

/** One random operation of a user, a disk, the controller, a decider or an agent. */
function disturb(model: ImageModel, random: Random): void {
  const disks = [...model.disks.values()];
  const disk = random.pick(disks);
  const operations: readonly (() => void)[] = [
    () => {
      // A crash after any write: only the first steps are carried out.
      const steps = model.steps();
      checkRemovals(model, steps);
      for (const step of steps.slice(0, random.int(steps.length + 1))) model.applyPlan(step);
    },
    () => model.decide(disk.uuid),
    () => model.act(disk.uuid),
    () => {
      disk.limit = random.int(60);
    },
    () => {
      disk.isEvicted = !disk.isEvicted;
    },
    () => {
      if (!model.neededOn.delete(disk.uuid)) model.neededOn.set(disk.uuid, 'v-r0');
    },
    () => {
      model.minNumberOfCopies = 1 + random.int(3);
    },
    () => {
      const name = `other${random.int(3)}`;
      if (disk.asked[name] === undefined) disk.asked[name] = 1 + random.int(30);
      else delete disk.asked[name];
    },
    () => {
      if (random.int(4) === 0) model.fail(disk.uuid);
    },
    () => {
      model.idleMs = random.int(3) === 0 ? idleCopyMaxMs : 0;
    },
  ];
  // The controller, the deciders and the agents act more often than anything else changes.
  const at = random.int(2) === 0 ? random.int(3) : random.int(operations.length);
  operations[at]?.();
}

/** The plan never removes ready data unless enough others are ready. */
function checkRemovals(model: ImageModel, steps: ReturnType<ImageModel['steps']>): void {
  for (const step of steps) {
    if (step.kind !== 'place') continue;
    const isReady = (uuid: string) => model.files.get(uuid) === 'ready';
    if (!step.remove.some(isReady)) continue;
    const left = [...model.wanted].filter((uuid) => isReady(uuid) && !step.remove.includes(uuid));
    expect(left.length).toBeGreaterThanOrEqual(model.minNumberOfCopies);
  }
}

/** The rules at rest, by looking at every disk. */
function checkRest(model: ImageModel): void {
  const { bytes, wanted, files, neededOn, minNumberOfCopies: min } = model;
  const disks = [...model.disks.values()];
  const isGranted = (uuid: string) => {
    const { asked, verdicts } = model.disks.get(uuid) ?? {};
    return asked?.i === bytes && verdicts?.i?.state === 'scheduled' && verdicts.i.observedSize === bytes;
  };
  for (const { uuid, asked } of disks) {
    if (wanted.has(uuid)) expect(asked.i).toBe(bytes);
    else expect([asked.i, files.get(uuid)]).toEqual([undefined, undefined]);
    expect(files.get(uuid) !== undefined && !isGranted(uuid)).toBe(false);
  }
  for (const uuid of neededOn.keys()) expect(wanted.has(uuid)).toBe(true);
  const staying = [...wanted].filter((uuid) => !model.disks.get(uuid)?.isEvicted);
  const good = staying.filter((uuid) => isGranted(uuid));
  if (good.length < min) {
    const fitting = disks.filter(({ uuid, isEvicted, asked, verdicts, limit }) => {
      const names = new Set([...Object.keys(asked), ...Object.keys(verdicts)]);
      const demand = [...names].reduce(
        (sum, name) => sum + Math.max(asked[name] ?? 0, verdicts[name]?.scheduledSize ?? 0),
        0,
      );
      return !wanted.has(uuid) && !isEvicted && limit - demand >= (bytes ?? 0);
    });
    expect(fitting.map(({ uuid }) => uuid)).toEqual([]);
  }
  const ready = staying.filter((uuid) => files.get(uuid) === 'ready');
  for (const uuid of wanted) {
    if (neededOn.has(uuid)) continue;
    const others = ready.filter((other) => other !== uuid);
    expect(others.length, `${uuid} is one too many`).toBeLessThan(min);
  }
}

test('any history comes to rest with every copy that there should be, and no other', () => {
  for (let run = 0; run < runs; run += 1) {
    const random = seededRandom(`image ${run}`);
    const real = 5 + random.int(15);
    const model = new ImageModel(real, random.int(3) === 0 ? undefined : 5 + random.int(15));
    const count = 1 + random.int(5);
    for (let at = 1; at <= count; at += 1) model.addDisk(`d${at}`, `n${random.int(3)}`, random.int(60));
    const length = random.int(80);
    for (let step = 0; step < length; step += 1) disturb(model, random);
    // Time passes: rejections and failures are forgotten, and unused copies are old.
    model.idleMs = idleCopyMaxMs;
    for (let times = 0; times < 3; times += 1) {
      model.rejectedBy.clear();
      model.failedOn.clear();
      settle(model, `run ${run}`);
    }
    try {
      if (model.knownBytes !== undefined || model.expectedBytes !== undefined) checkRest(model);
    } catch (error) {
      throw new Error(`run ${run}`, { cause: error });
    }
  }
});

/** The disks of new copies, by sorting all disks for each copy. */
function slowPlacement(disks: readonly DiskCandidate[], bytes: number, count: number): readonly string[] {
  const chosen: DiskCandidate[] = [];
  while (chosen.length < count) {
    const shared = (disk: DiskCandidate) => {
      if (chosen.some(({ nodeName }) => nodeName === disk.nodeName)) return 2;
      return disk.zone !== '' && chosen.some(({ zone }) => zone === disk.zone) ? 1 : 0;
    };
    const room = ({ state, demandBytes }: DiskCandidate) =>
      state.kind === 'ready' && state.closed === undefined ? state.limitBytes - demandBytes : -1;
    const [best] = disks
      .filter((disk) => !chosen.includes(disk) && disk.diskTags.includes('x') && room(disk) >= bytes)
      .sort((a, b) => shared(a) - shared(b) || room(b) - room(a) || (a.uuid < b.uuid ? -1 : 1));
    if (best === undefined) break;
    chosen.push(best);
  }
  return chosen.map(({ uuid }) => uuid);
}

test('new copies go where a search over all disks would put them', () => {
  for (let run = 0; run < runs; run += 1) {
    const random = seededRandom(`placement ${run}`);
    const disks = Array.from({ length: random.int(8) }, (_, at): DiskCandidate => {
      const limitBytes = random.int(40);
      const closed = { reason: 'SchedulingDisabled', message: 'closed' } as const;
      const states: readonly DiskCandidate['state'][] = [
        { kind: 'ready', limitBytes },
        { kind: 'ready', limitBytes },
        { kind: 'ready', limitBytes, closed },
        { kind: 'unknown', message: 'unknown' },
      ];
      return {
        uuid: `d${at}`,
        name: 'd',
        nodeName: `n${random.int(4)}`,
        zone: random.pick(['', 'a', 'b']),
        nodeTags: [],
        diskTags: random.int(4) === 0 ? [] : ['x'],
        state: random.pick(states),
        demandBytes: random.int(20),
        grantedBytes: 0,
      };
    });
    const model = new ImageModel(10, 10);
    const min = 1 + random.int(4);
    const view = { ...model.view(), minNumberOfCopies: min, diskSelector: ['x'] };
    const placed = planImage(view, disks).steps.flatMap((step) => (step.kind === 'place' ? step.add : []));
    expect(placed, `run ${run}`).toEqual(slowPlacement(disks, 10, min));
  }
});
