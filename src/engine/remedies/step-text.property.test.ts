import { expect, test } from 'vitest';
import { stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { expectStepTextsToHold } from './testing/step-text-laws.ts';

test.each([stowageProfile, upstreamProfile])(
  'doing what a remedy says, as it says it, makes the pod fit by the rules of $name',
  (profile) => {
    expect(expectStepTextsToHold(profile, 300).size).toBeGreaterThan(12);
  },
);
