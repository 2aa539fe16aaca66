import { test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import { expectIndexToStay, expectRemediesToHold } from './testing/remedy-laws.ts';

// One file for each profile, so that two workers can run them in parallel.
test('remedies of the profile stowage make the pod fit, and are the smallest of their kind', () => {
  expectRemediesToHold(stowageProfile, propertyRuns(300));
});

test('the search for remedies of the profile stowage leaves the index as it was', () => {
  expectIndexToStay(stowageProfile, 50);
});
