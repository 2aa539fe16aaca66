import { type Random, seededRandom } from '../runtime/random.ts';
import { allParts } from './all-parts.ts';
import type { ActionKind, SimulationPart } from './part.ts';
import type { Scenario, TimedAction } from './scenario.ts';

const activeMaxMs = 90_000;
const actionsMax = 100;

/**
 * The scenario of a seed. Each seed uses some kinds of actions only: combinations that are rare among all actions are then common in
 * some seeds (swarm testing).
 */
export function scenarioOfSeed(seed: number, parts: readonly SimulationPart[] = allParts): Scenario {
  const random = seededRandom(`scenario ${seed}`);
  const processes = parts.flatMap(({ processes: plans = [] }) => plans.map(({ name }) => name));
  const all = parts.flatMap(({ actions = [] }) => actions);
  const shape = random.fork('shape');
  const activeMs = 10_000 + shape.int(activeMaxMs);
  const count = 20 + shape.int(actionsMax);
  const kinds = enabledKinds(all, random.fork('kinds'));
  // In some seeds many actions take place at the same moment, so that their effects overlap.
  const stepMs = random.fork('moments').pick([1, 1, 5_000]);
  const draw = random.fork('actions');
  const actions: TimedAction[] = [];
  for (let index = 0; index < count; index += 1) {
    const kind = pickWeighted(kinds, draw);
    const atMs = Math.floor(draw.int(activeMs) / stepMs) * stepMs;
    actions.push({ atMs, action: kind.name, parameters: kind.draw(draw) });
  }
  actions.sort((left, right) => left.atMs - right.atMs);
  return {
    seed: String(seed),
    replicated: processes.filter(() => shape.int(4) === 0),
    latencyMaxMs: shape.pick([0, 5, 40]),
    actions,
  };
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
