import fc from 'fast-check';
import { expect } from 'vitest';
import type { Profile } from '../../cluster-index/profile.ts';
import { plan } from '../../plan.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { randomNowMs as nowMs } from '../../testing/random/cluster.ts';
import type { FullCluster } from '../../testing/random/full-cluster.ts';
import { stepText } from '../step-text.ts';
import { applyStepText } from './apply-step-text.ts';
import { searchIn } from './remedy-laws.ts';
import { arbRichCluster } from './rich-cluster.ts';

/** Checks that following the texts of a remedy, in their order and as rounded, makes the pod fit. Returns the actions that occurred. */
export function expectStepTextsToHold(profile: Profile, numRuns: number): ReadonlySet<string> {
  const seen = new Set<string>();
  const check = ({ objects, pod }: FullCluster) => {
    for (const { node, steps } of searchIn(objects, pod, profile)?.remedies ?? []) {
      for (const { action } of steps) seen.add(action);
      const texts = steps.map((step) => stepText(step, node));
      const after = steps.reduce(
        (before, step, at) => applyStepText({ text: texts[at]!, name: step.object.name }, before),
        { objects, pod },
      );
      const answer = plan(after.pod, clusterOf(after.objects, profile), { nowMs });
      expect([texts, answer.kind]).toEqual([texts, 'placement']);
    }
  };
  fc.assert(fc.property(arbRichCluster, check), { numRuns });
  return seen;
}
