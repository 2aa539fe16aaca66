import fc from 'fast-check';
import { test } from 'vitest';
import { checkHistory } from '../../testing/inter-pod-history.ts';
import { affinityAnswers } from '../../testing/oracle/pod-affinity.ts';
import { arbAffinePod, arbHistory, arbSpreadPod } from '../../testing/random/inter-pod.ts';
import { eraseState } from '../framework/rule.ts';
import { interPodAffinity } from './rule.ts';

test('pod affinity says of each node what the oracle says, whatever happens, and wakes whoever fits', () => {
  const arbPods = fc.array(fc.oneof({ weight: 3, arbitrary: arbAffinePod }, arbSpreadPod), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(arbHistory, arbPods, (history, pods) => {
      checkHistory(history, { rule: eraseState(interPodAffinity), oracle: affinityAnswers, pods });
    }),
    { numRuns: 100 },
  );
});
