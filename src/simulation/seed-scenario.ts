import { type Random, seededRandom } from '../runtime/random.ts';
import { partsOf } from './all-parts.ts';
import type { ActionKind } from './part.ts';
import type { Scenario, SimulationSubject, TimedAction } from './scenario.ts';

const activeMaxMs = 90_000;
const actionsMax = 100;
/** How long a rare moment takes: faults end with the last action. */
const rareMs = 25_000;

/**
 * The scenario of a seed. Each seed uses some kinds of actions only: combinations that are rare among all actions are then common in
 * some seeds (swarm testing).
 */
export function scenarioOfSeed(seed: number): Scenario {
  const subject = subjectOf(seed);
  const parts = partsOf(subject);
  const random = seededRandom(`scenario ${seed}`);
  const processes = parts.flatMap(({ processes: plans = [] }) => plans);
  const all = parts.flatMap(({ actions = [] }) => actions);
  const rare = all.filter(({ isRare }) => isRare === true);
  const shape = random.fork('shape');
  const activeMs = 10_000 + shape.int(activeMaxMs);
  const count = 20 + shape.int(actionsMax);
  const kinds = enabledKinds(
    all.filter(({ isRare }) => isRare !== true),
    random.fork('kinds'),
  );
  // Some seeds let many actions take place at the same moment, so that their effects overlap.
  const stepMs = random.fork('moments').pick([1, 1, 5_000]);
  const draw = random.fork('actions');
  const actions: TimedAction[] = [];
  for (let index = 0; index < count; index += 1) {
    const kind = pickWeighted(kinds, draw);
    const atMs = Math.floor(draw.int(activeMs) / stepMs) * stepMs;
    actions.push({ atMs, action: kind.name, parameters: kind.draw(draw) });
  }
  actions.push(...rareActions(rare, activeMs, random.fork('rare')));
  actions.sort((left, right) => left.atMs - right.atMs);
  return {
    ...(subject === 'pods' ? {} : { subject }),
    seed: String(seed),
    replicated: processes
      .filter(() => shape.int(4) === 0)
      .filter(({ drivesNode }) => drivesNode === undefined)
      .map(({ name }) => name),
    latencyMaxMs: shape.pick([0, 5, 40]),
    attaches: random.fork('attaches').int(4) === 0,
    actions,
  };
}

/** One seed of eight is about disks, and one about drives. */
function subjectOf(seed: number): SimulationSubject {
  if (seed % 8 === 0) return 'disks';
  return seed % 8 === 4 ? 'drives' : 'pods';
}

function rareActions(kinds: readonly ActionKind[], activeMs: number, random: Random): readonly TimedAction[] {
  const count = kinds.length === 0 ? 0 : random.int(3);
  return Array.from({ length: count }, () => {
    const kind = pickWeighted(kinds, random);
    return {
      atMs: random.int(Math.max(1, activeMs - rareMs)),
      action: kind.name,
      parameters: kind.draw(random),
    };
  });
}

/** Work always takes place; each kind of fault in half of the seeds. */
function enabledKinds(all: readonly ActionKind[], random: Random): readonly ActionKind[] {
  return all.filter((kind) => kind.isFault !== true || random.int(2) === 0);
}

function pickWeighted(kinds: readonly ActionKind[], random: Random): ActionKind {
  let rest = random.int(kinds.reduce((sum, { weight }) => sum + weight, 0));
  for (const kind of kinds) {
    rest -= kind.weight;
    if (rest < 0) return kind;
  }
  throw new Error('the weights of actions must be positive');
}
