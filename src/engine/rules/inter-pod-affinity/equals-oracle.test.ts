import fc from 'fast-check';
import { test } from 'vitest';
import { checkInterPodHistory } from '../../testing/inter-pod-history.ts';
import { affinityAnswers } from '../../testing/oracle/pod-affinity.ts';
import { arbAffinePod, arbInterPodHistory, arbSpreadPod } from '../../testing/random/inter-pod.ts';
import { eraseState } from '../framework/rule.ts';
import { interPodAffinityRule } from './rule.ts';

test('pod affinity gives each node the same answer as the oracle after any events, and wakes every pod that then fits', () => {
  const arbPods = fc.array(fc.oneof({ weight: 3, arbitrary: arbAffinePod }, arbSpreadPod), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(arbInterPodHistory, arbPods, (history, pods) => {
      checkInterPodHistory(history, {
        rule: eraseState(interPodAffinityRule),
        oracle: affinityAnswers,
        pods,
      });
    }),
    { numRuns: 100 },
  );
});
