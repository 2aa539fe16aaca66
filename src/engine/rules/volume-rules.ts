import { type AnyRule, eraseState } from './framework/rule.ts';
import { recentFailuresRule } from './recent-failures/rule.ts';
import { volumeAntiAffinityRule } from './volume-anti-affinity/rule.ts';
import { volumeBindingRule } from './volume-binding/rule.ts';
import { volumeLimitsRule } from './volume-limits/rule.ts';
import { volumePreferenceRule } from './volume-preference/rule.ts';
import { volumeZoneRule } from './volume-zone/rule.ts';

/** Sorted as in kube-scheduler's default profile, so that nodes are refused for the same reason. */
export const volumeRules: readonly AnyRule[] = [
  eraseState(volumeLimitsRule),
  eraseState(recentFailuresRule),
  eraseState(volumeBindingRule),
  eraseState(volumeZoneRule),
  eraseState(volumePreferenceRule),
  eraseState(volumeAntiAffinityRule),
];
