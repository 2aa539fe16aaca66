import type { Placement } from '../../engine/plan.ts';
import { nodeReasons } from '../../engine/rules/reasons.ts';
import type { Pod } from '../../kube/api/core.ts';
import { isReportedUnschedulable, reportedMessage } from './contradiction.ts';
import type { PodExplanation } from './explanation.ts';

/**
 * The scheduler avoids nodes on which provisioning a volume failed a moment ago. It remembers them in memory only, so an explanation cannot
 * count them; but the pod's condition says that there are some.
 */
export function avoidsFailedNodes(pod: Pod): boolean {
  const { upstream } = nodeReasons.RecentlyFailed;
  return isReportedUnschedulable(pod) && (reportedMessage(pod) ?? '').includes(upstream);
}

/** The pod would fit on a node that its scheduler avoids. */
export function avoidedNodes(pod: Pod, { pod: { key }, node }: Placement): Partial<PodExplanation> {
  return {
    verdict: 'refused',
    message: reportedMessage(pod),
    summary: `Pod ${key} would fit on ${node}, but ${failedNodesNote}`,
  };
}

export const failedNodesNote =
  'its scheduler avoids nodes on which a provisioner has just failed to create a volume for it. Which nodes they are, only the scheduler ' +
  'knows; the events of the claims say why provisioning failed. The scheduler tries a node again when its pool publishes new figures, or ' +
  'after ten seconds to five minutes.';
