import fc from 'fast-check';
import { test } from 'vitest';
import { checkHistory } from '../../testing/inter-pod-history.ts';
import { spreadAnswers } from '../../testing/oracle/topology-spread.ts';
import { arbHistory, arbSpreadPod } from '../../testing/random/inter-pod.ts';
import { eraseState } from '../framework/rule.ts';
import { topologySpread } from './rule.ts';

test('topology spread says of each node what the oracle says, whatever happens, and wakes whoever fits', () => {
  const arbPods = fc.array(arbSpreadPod, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(arbHistory, arbPods, (history, pods) => {
      checkHistory(history, { rule: eraseState(topologySpread), oracle: spreadAnswers, pods });
    }),
    { numRuns: 100 },
  );
});
