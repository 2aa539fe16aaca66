import { test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { upstreamProfile } from '../cluster-index/profile.ts';
import { expectIndexToStay, expectRemediesToHold } from './testing/remedy-laws.ts';

// One file for each profile, so that two workers can run them in parallel.
test('remedies of the profile upstream make the pod fit, and are the smallest of their kind', () => {
  expectRemediesToHold(upstreamProfile, propertyRuns(300));
});

test('the search for remedies of the profile upstream leaves the index as it was', () => {
  expectIndexToStay(upstreamProfile, 50);
});
