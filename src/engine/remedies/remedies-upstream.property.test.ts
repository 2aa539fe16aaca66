import { test } from 'vitest';
import { upstreamProfile } from '../cluster-index/profile.ts';
import { expectIndexToStay, expectRemediesToHold } from './testing/remedy-laws.ts';

// One file for each profile, so that the workers share them.
test('remedies by the rules of upstream make the pod fit, and are the smallest of their sort', () => {
  expectRemediesToHold(upstreamProfile, 1_000);
});

test('looking for remedies by the rules of upstream leaves the index as it was', () => {
  expectIndexToStay(upstreamProfile, 50);
});
