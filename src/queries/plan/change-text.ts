import type { WhatIfChange } from '../../engine/what-if/change.ts';
import { bytesText } from '../../kube/quantities/amount-text.ts';
import { countOf } from '../../kube/quantities/count-text.ts';

/** The change as a phrase: `drain node n1`. */
export function changeText(change: WhatIfChange): string {
  switch (change.kind) {
    case 'drain-node':
      return `drain node ${change.node}`;
    case 'drain-drive':
      return `drain drive ${change.drive}`;
    case 'add-nodes':
      return `add ${countOf(change.count, 'node')} like ${change.like}`;
    case 'add-drive': {
      const tier = change.tier === undefined ? '' : `, tier ${change.tier}`;
      return `add a drive of ${bytesText(change.bytes, 'down')} to ${change.node}${tier}`;
    }
    case 'scale': {
      const { kind, namespace, name } = change.workload;
      return `scale ${kind.toLowerCase()} ${namespace}/${name} to ${change.replicas}`;
    }
    case 'apply':
      return `apply ${countOf(change.objects.length, 'object')}`;
  }
}
