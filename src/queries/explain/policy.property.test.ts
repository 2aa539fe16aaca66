/**
 * The explanation of policies for volumes agrees with the scheduler, in random clusters, by an obvious model of docs/policies.md. To try more of
 * them, or others:
 *
 *     POLICY_CLUSTERS=5000 POLICY_SEED=mine npx vitest run src/cli/explain/policy.property.test.ts
 */
import { expect, test } from 'vitest';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import { plan } from '../../engine/plan.ts';
import { tieBreakSeed } from '../../engine/records/pending-pod.ts';
import { readPod } from '../../engine/records/pod-record.ts';
import { explainPod } from './explain-pod.ts';
import type { PodExplanation } from './explanation.ts';
import { type DrawnDrive, RandomPolicies } from './testing/random-policies.ts';

const clusters = Number(process.env.POLICY_CLUSTERS ?? 100);
const seed = process.env.POLICY_SEED ?? 'policy';
const nowMs = Date.parse('2026-01-01T00:00:00Z');
const noPolicy = { reservePercent: 0, apart: undefined, placement: undefined } as const;

/** The result that an administrator would work out on paper. */
class PolicyModel {
  readonly #drawn: RandomPolicies;

  constructor(drawn: RandomPolicies) {
    this.#drawn = drawn;
  }

  get nodes(): readonly string[] {
    return [...this.#drawn.zoneOf.keys()];
  }

  hasSpace({ freeGib }: DrawnDrive): boolean {
    return freeGib >= this.#drawn.requestGib;
  }

  isReserved(one: DrawnDrive): boolean {
    const { policy, requestGib } = this.#drawn;
    return one.freeGib - (one.sizeGib * policy.reservePercent) / 100 < requestGib;
  }

  hasMemberOnNode(node: string): boolean {
    return this.#drawn.drives.some((one) => one.node === node && one.hasMember);
  }

  hasMemberInZone(node: string): boolean {
    const { zoneOf } = this.#drawn;
    return this.nodes.some((other) => zoneOf.get(other) === zoneOf.get(node) && this.hasMemberOnNode(other));
  }

  usable(node: string): readonly DrawnDrive[] {
    const { drives, policy } = this.#drawn;
    if (policy.apart === 'nodes' && this.hasMemberOnNode(node)) return [];
    if (policy.apart === 'zones' && this.hasMemberInZone(node)) return [];
    return drives.filter(
      (one) =>
        one.node === node &&
        this.hasSpace(one) &&
        !this.isReserved(one) &&
        !(policy.apart === 'drives' && one.hasMember),
    );
  }
}

/** Whether the explanation gives this reason for the node. */
function isRefusedFor({ nodes }: PodExplanation, node: string, reason: string): boolean {
  return (nodes?.groups ?? []).some(
    (group) => group.nodes.includes(node) && group.reasons.some((one) => one.reason === reason),
  );
}

function checkRefusal(drawn: RandomPolicies, model: PolicyModel, explanation: PodExplanation): void {
  const { policy, drives } = drawn;
  for (const node of model.nodes) {
    const onNode = policy.apart === 'nodes' && model.hasMemberOnNode(node);
    const inZone = policy.apart === 'zones' && model.hasMemberInZone(node);
    expect(isRefusedFor(explanation, node, 'VolumeOfOwnerOnNode'), node).toBe(onNode);
    expect(isRefusedFor(explanation, node, 'VolumeOfOwnerInZone'), node).toBe(inZone);
  }
  for (const { name, obstacles } of (explanation.claims ?? []).flatMap(({ closest }) => closest)) {
    const one = drives.find((other) => other.name === name)!;
    const codes = obstacles.map(({ code }) => code);
    if (codes.includes('GrowthReserve'))
      expect([model.hasSpace(one), model.isReserved(one)], name).toEqual([true, true]);
    if (codes.includes('SameOwner')) expect([policy.apart, one.hasMember], name).toEqual(['drives', true]);
    if (codes.includes('InsufficientCapacity')) expect(model.hasSpace(one), name).toBe(false);
  }
}

/** Under `pack` the drive with less free space scores more, under `spread` the one with more. Nodes with several usable drives are left out. */
function checkScores(drawn: RandomPolicies, model: PolicyModel, { placement }: PodExplanation): number {
  const scored = placement!.scores.flatMap(({ node, byRule }) => {
    const [one, ...others] = model.usable(node);
    return others.length > 0 ? [] : [{ freeGib: one!.freeGib, score: byRule.VolumeBinding ?? 0 }];
  });
  const ranked = scored.toSorted((a, b) => a.freeGib - b.freeGib).map(({ score }) => score);
  const { placement: wanted } = drawn.policy;
  if (wanted === undefined) return 0;
  expect(ranked).toEqual(ranked.toSorted((a, b) => (wanted === 'pack' ? b - a : a - b)));
  return new Set(ranked).size;
}

test('what the explanation says about policies is what the scheduler does', () => {
  const seen = new Set<string>();
  for (let at = 0; at < clusters; at += 1) {
    const drawn = new RandomPolicies(`${seed} ${at}`);
    const model = new PolicyModel(drawn);
    const view = drawn.view();
    const { index } = view.snapshot.toIndex(stowageProfile);
    const decision = plan(drawn.waiting, index, { nowMs, tieSeed: tieBreakSeed(readPod(drawn.waiting)) });
    const explanation = explainPod(view, drawn.waiting, { nowMs, skipsRemedies: true });
    const fitting = model.nodes.filter((node) => model.usable(node).length > 0);
    const detail = `cluster ${seed} ${at}: ${JSON.stringify(drawn.policy)}`;
    expect([explanation.verdict, decision.kind], detail).toEqual(
      fitting.length > 0 ? ['fits', 'placement'] : ['refused', 'refusal'],
    );
    if (decision.kind === 'placement') {
      const { node, volumes } = explanation.placement!;
      expect([node, explanation.nodes?.fitting], detail).toEqual([decision.node, fitting.length]);
      expect(model.usable(node).map(({ name }) => name)).toContain(volumes[0]!.pool);
      if (checkScores(drawn, model, explanation) > 1) seen.add(`${drawn.policy.placement}`);
    } else {
      checkRefusal(drawn, model, explanation);
      const free = explainPod(drawn.view(noPolicy), drawn.waiting, { nowMs, skipsRemedies: true });
      const hasSpace = drawn.drives.some((one) => model.hasSpace(one));
      expect(free.verdict, detail).toBe(hasSpace ? 'fits' : 'refused');
      for (const { reasons } of explanation.nodes?.groups ?? [])
        for (const one of reasons) seen.add(one.reason);
      for (const { closest } of explanation.claims ?? [])
        for (const { obstacles } of closest) for (const { code } of obstacles) seen.add(code);
    }
  }
  // The clusters must exercise every policy, or the test proves little.
  if (process.env.POLICY_CLUSTERS === undefined)
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'pack',
        'spread',
        'VolumeOfOwnerOnNode',
        'VolumeOfOwnerInZone',
        'SameOwner',
        'GrowthReserve',
      ]),
    );
});
