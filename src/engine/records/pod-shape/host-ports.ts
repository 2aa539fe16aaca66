import type { ContainerPort } from '../../../kube/api/core.ts';
import { textOf } from '../../../kube/wire.ts';
import { nonNullItems } from '../field-readers.ts';
import { memoByShape } from './pod-shape.ts';

/** A host port that a pod uses. */
export interface HostPort {
  /** Protocol and number. Ports with different keys never conflict. */
  readonly key: string;
  readonly ip: string;
}

/** Stands for every address of the node. */
export const anyIp = '0.0.0.0';

/**
 * The host ports of containers and of restartable init containers. As in kube-scheduler, only `hostPort` counts. For pods with
 * `hostNetwork` the API server has filled it in.
 */
export const hostPortsOf = memoByShape<readonly HostPort[]>(({ containers, initContainers }) =>
  [...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'), ...containers]
    .flatMap(({ hostPorts }) => nonNullItems(hostPorts))
    .map(readHostPort),
);

function readHostPort({ protocol, hostPort, hostIP }: ContainerPort): HostPort {
  return { key: `${textOf(protocol) || 'TCP'}/${hostPort}`, ip: textOf(hostIP) || anyIp };
}

/** Whether two pods on one node can't use these ports. */
export function portsConflict(a: HostPort, b: HostPort): boolean {
  return a.key === b.key && (a.ip === b.ip || a.ip === anyIp || b.ip === anyIp);
}
