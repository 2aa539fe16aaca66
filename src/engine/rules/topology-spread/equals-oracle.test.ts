import fc from 'fast-check';
import { test } from 'vitest';
import { checkInterPodHistory } from '../../testing/inter-pod-history.ts';
import { spreadAnswers } from '../../testing/oracle/topology-spread.ts';
import { arbInterPodHistory, arbSpreadPod } from '../../testing/random/inter-pod.ts';
import { eraseState } from '../framework/rule.ts';
import { topologySpreadRule } from './rule.ts';

test('topology spread gives each node the same answer as the oracle after any events, and wakes every pod that then fits', () => {
  const arbPods = fc.array(arbSpreadPod, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(arbInterPodHistory, arbPods, (history, pods) => {
      checkInterPodHistory(history, { rule: eraseState(topologySpreadRule), oracle: spreadAnswers, pods });
    }),
    { numRuns: 100 },
  );
});
