/**
 * Chooses volumes and nodes together. The node must reach the volumes that the pod already has. For unbound claims, all at the same time,
 * there must be existing volumes or pools with enough capacity to provision new ones.
 */
import type { Cycle } from '../framework/cycle.ts';
import type { Decisions } from '../framework/decisions.ts';
import type { Prepared, Rule } from '../framework/rule.ts';
import type { BindingState } from './binding-state.ts';
import { checkBoundVolumes } from './bound-volumes.ts';
import { decideVolumes } from './decide.ts';
import { explainVolumes } from './explain.ts';
import { NearbyVolumesCache } from './nearby-volumes.ts';
import { prepareNeeds } from './prepare.ts';
import { scoreVolumes } from './score.ts';
import { Solution } from './solution.ts';
import { bindingReasons, bit } from './verdict-bits.ts';
import { volumesInvalidatedBy, volumesWokenBy } from './wakes.ts';

export const volumeBindingRule: Rule<BindingState> = {
  name: 'VolumeBinding',
  reasons: bindingReasons,
  prepare,
  filter,
  score: {
    weight: 1,
    run: ({ needs, solution }, cycle, scores) => scoreVolumes(needs, solution, cycle, scores),
  },
  decide: ({ needs, solution }: BindingState, cycle: Cycle, node: number, decisions: Decisions) =>
    decideVolumes(needs, solution, { index: cycle.index, node, decisions }),
  explain: explainVolumes,
  wakes: volumesWokenBy,
  invalidates: volumesInvalidatedBy,
};

function prepare(cycle: Cycle): Prepared<BindingState> {
  const prepared = prepareNeeds(cycle);
  if (prepared.kind !== 'ready') return prepared;
  const needs = prepared.state;
  if (needs.bound.length === 0 && needs.requests.length === 0) return { kind: 'skip' };
  const solution = new Solution(cycle, needs);
  cycle.chosenVolumes = solution;
  return { kind: 'ready', state: { needs, solution, nearby: new NearbyVolumesCache(cycle.index) } };
}

function filter({ needs, solution }: BindingState, cycle: Cycle): void {
  const obstacles = cycle.index.scratch.ints('binding obstacles', cycle.rowCount);
  if (needs.bound.length > 0) checkBoundVolumes(cycle, needs.bound, obstacles);
  const { reportsEveryObstacle } = cycle.index.profile;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    let found = obstacles[node]!;
    if (!solution.isServed(node) && (found === 0 || reportsEveryObstacle)) found |= solution.solve(node);
    if (found === 0) continue;
    if ((found & lacksRoom) === 0 || mayEvictionFree(cycle, node)) cycle.reject(node, found);
    else cycle.rejectUnresolvable(node, found);
  }
}

const lacksRoom = bit.NotEnoughCapacity | bit.TooFewDrivesToSpread;

/** Evicting a pod deletes its inline volumes. Volumes of claims stay. */
function mayEvictionFree({ index }: Cycle, node: number): boolean {
  return index.profile.checkInlineVolumes && index.pods.hasInlineVolumes(index.nodes.record(node)!.key);
}
