import { test } from 'vitest';
import { stowageProfile } from '../cluster-index/profile.ts';
import { expectIndexToStay, expectRemediesToHold } from './testing/remedy-laws.ts';

// One file for each profile, so that the workers share them.
test('remedies by the rules of stowage make the pod fit, and are the smallest of their sort', () => {
  expectRemediesToHold(stowageProfile, 1_000);
});

test('looking for remedies by the rules of stowage leaves the index as it was', () => {
  expectIndexToStay(stowageProfile, 50);
});
