import fc from 'fast-check';
import { test } from 'vitest';
import { checkInterPodHistory } from '../../testing/inter-pod-history.ts';
import { spreadAnswers } from '../../testing/oracle/topology-spread.ts';
import { arbInterPodHistory, arbSpreadPod } from '../../testing/random/inter-pod.ts';
import { eraseState } from '../framework/rule.ts';
import { topologySpreadRule } from './rule.ts';

test('topology spread says of each node what the oracle says, whatever happens, and wakes whoever fits', () => {
  const arbPods = fc.array(arbSpreadPod, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(arbInterPodHistory, arbPods, (history, pods) => {
      checkInterPodHistory(history, { rule: eraseState(topologySpreadRule), oracle: spreadAnswers, pods });
    }),
    { numRuns: 100 },
  );
});
