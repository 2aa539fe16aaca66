import { expect, test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { expectStepTextsToHold } from './testing/step-text-laws.ts';

test.each([stowageProfile, upstreamProfile])(
  'applying a remedy from its text alone makes the pod fit with the profile $name',
  (profile) => {
    expect(expectStepTextsToHold(profile, propertyRuns(150)).size).toBeGreaterThan(12);
  },
);
