import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { registerWithKubelet } from '../../../../src/csi/registration/kubelet-registration.ts';
import { realClock } from '../../../../src/runtime/clock.ts';
import { silentLog } from '../../../../src/runtime/log.ts';
import { eventually } from '../drives-on-node.ts';
import type { RealNode } from '../real-node.ts';

export const mockName = 'mock.example.com';
const folder = `/var/lib/kubelet/plugins/${mockName}`;
const socket = `${folder}/csi.sock`;

/** csi-mock as a program of a node, with the storage of that node; it is registered with the node's kubelet. */
export async function startMockDriver(node: RealNode, gib: number): Promise<void> {
  await node.exec('mkdir', '-p', folder);
  await node.startProgram(
    'csi-mock',
    inject('kubernetesPrograms')['csi-mock']!,
    ...['--no-attach', '--topology-key', 'topology.mock.example.com/node'],
    ...['--pool', `${node.name}=${gib}`, '--node', `${node.name}=${socket}`],
    ...[`${folder}/unused.sock`, mockName],
  );
  await eventually(
    () =>
      node.exec('test', '-S', socket).then(
        () => true,
        () => false,
      ),
    (isThere) => isThere,
  );
  const registration = await registerWithKubelet({
    folder: join(node.kubeletFolder, 'plugins_registry'),
    driver: mockName,
    endpoint: socket,
    clock: realClock,
    log: silentLog,
  });
  onTestFinished(() => registration.stop());
}
