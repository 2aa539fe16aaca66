import type { ContainerPort } from '../../kube/api/core.ts';
import { textOf } from '../../kube/wire.ts';
import { nonNullItems } from './field-readers.ts';
import { memoByShape } from './pod-shape.ts';

/** A port of its node that a pod takes. */
export interface HostPort {
  /** Protocol and number; ports of different keys never collide. */
  readonly key: string;
  readonly ip: string;
}

/** Every address of the node. */
export const anyIp = '0.0.0.0';

/**
 * Of containers and of those init containers that keep running. As in kube-scheduler it is `hostPort` that counts; for a pod in the
 * node's own network the API server has filled it in.
 */
export const hostPortsOf = memoByShape<readonly HostPort[]>(({ containers, initContainers }) =>
  [...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'), ...containers]
    .flatMap(({ hostPorts }) => nonNullItems(hostPorts))
    .map(readHostPort),
);

function readHostPort({ protocol, hostPort, hostIP }: ContainerPort): HostPort {
  return { key: `${textOf(protocol) || 'TCP'}/${hostPort}`, ip: textOf(hostIP) || anyIp };
}

/** Whether one pod can't have the one while another has the other. */
export function portsCollide(a: HostPort, b: HostPort): boolean {
  return a.key === b.key && (a.ip === b.ip || a.ip === anyIp || b.ip === anyIp);
}
