import { balancedAllocation } from './balanced-allocation/rule.ts';
import { nodeDeclaredFeatures } from './declared-features/rule.ts';
import { type AnyRule, eraseState } from './framework/rule.ts';
import { imageLocality } from './image-locality/rule.ts';
import { interPodAffinity } from './inter-pod-affinity/rule.ts';
import { nodeAffinity } from './node-affinity/rule.ts';
import { nodeName } from './node-name/rule.ts';
import { nodePorts } from './node-ports/rule.ts';
import { nodeResourcesFit } from './node-resources/rule.ts';
import { nodeUnschedulable } from './node-unschedulable/rule.ts';
import { supportedFeatures } from './supported-features/rule.ts';
import { taintToleration } from './taint-toleration/rule.ts';
import { topologySpread } from './topology-spread/rule.ts';
import { volumeRestrictions } from './volume-restrictions/rule.ts';
import { volumeRules } from './volume-rules.ts';

/**
 * Every rule there is, in the order of kube-scheduler's default profile: a node is refused by the first that refuses it, and for the
 * same reason there and here.
 */
export const defaultRules: readonly AnyRule[] = [
  eraseState(supportedFeatures),
  eraseState(nodeUnschedulable),
  eraseState(nodeName),
  eraseState(taintToleration),
  eraseState(nodeAffinity),
  eraseState(nodePorts),
  eraseState(nodeResourcesFit),
  eraseState(volumeRestrictions),
  ...volumeRules,
  eraseState(topologySpread),
  eraseState(interPodAffinity),
  eraseState(balancedAllocation),
  eraseState(imageLocality),
  eraseState(nodeDeclaredFeatures),
];
