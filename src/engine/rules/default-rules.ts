import { balancedAllocationRule } from './balanced-allocation/rule.ts';
import { declaredFeaturesRule } from './declared-features/rule.ts';
import { type AnyRule, eraseState } from './framework/rule.ts';
import { imageLocalityRule } from './image-locality/rule.ts';
import { interPodAffinityRule } from './inter-pod-affinity/rule.ts';
import { nodeAffinityRule } from './node-affinity/rule.ts';
import { nodeNameRule } from './node-name/rule.ts';
import { nodePortsRule } from './node-ports/rule.ts';
import { nodeResourcesRule } from './node-resources/rule.ts';
import { nodeUnschedulableRule } from './node-unschedulable/rule.ts';
import { supportedFeaturesRule } from './supported-features/rule.ts';
import { taintTolerationRule } from './taint-toleration/rule.ts';
import { topologySpreadRule } from './topology-spread/rule.ts';
import { volumeRestrictionsRule } from './volume-restrictions/rule.ts';
import { volumeRules } from './volume-rules.ts';

/**
 * All rules, in the order of kube-scheduler's default profile. The first rule that refuses a node gives the reason, so the order makes
 * the reason the same in both.
 */
export const defaultRules: readonly AnyRule[] = [
  eraseState(supportedFeaturesRule),
  eraseState(nodeUnschedulableRule),
  eraseState(nodeNameRule),
  eraseState(taintTolerationRule),
  eraseState(nodeAffinityRule),
  eraseState(nodePortsRule),
  eraseState(nodeResourcesRule),
  eraseState(volumeRestrictionsRule),
  ...volumeRules,
  eraseState(topologySpreadRule),
  eraseState(interPodAffinityRule),
  eraseState(balancedAllocationRule),
  eraseState(imageLocalityRule),
  eraseState(declaredFeaturesRule),
];
