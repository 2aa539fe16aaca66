import { type AnyRule, eraseState } from './framework/rule.ts';
import { recentFailures } from './recent-failures/rule.ts';
import { volumeBinding } from './volume-binding/rule.ts';
import { volumeLimits } from './volume-limits/rule.ts';
import { volumePreference } from './volume-preference/rule.ts';
import { volumeZone } from './volume-zone/rule.ts';

/** In the order of kube-scheduler's default profile, so that a node is refused for the same reason. */
export const volumeRules: readonly AnyRule[] = [
  eraseState(volumeLimits),
  eraseState(recentFailures),
  eraseState(volumeBinding),
  eraseState(volumeZone),
  eraseState(volumePreference),
];
