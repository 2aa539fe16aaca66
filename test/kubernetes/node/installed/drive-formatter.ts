import { onTestFinished } from 'vitest';
import type { InstalledBed } from './installed-bed.ts';

const name = 'drive-formatter';

/** Formats devices of a node by `stowage drives init` in a pod from the image, as somebody does who has nothing else on the node. */
export async function initDrives(bed: InstalledBed, node: string, devices: readonly string[]): Promise<void> {
  const pod = `${name}-${node}`;
  await bed.apply(account, role, roleBinding, formatter(pod, node, devices));
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail')
      process.stderr.write(`${await bed.kubectl('logs', '-n', 'kube-system', pod).catch(String)}\n`);
  });
  await bed.kubectl(
    'wait',
    '-n',
    'kube-system',
    '--for=jsonpath={.status.phase}=Succeeded',
    `pod/${pod}`,
    '--timeout=150s',
  );
  await bed.kubectl('delete', 'pod', '-n', 'kube-system', pod);
}

/** Devices are those of the node. Nothing is written to the image; a new file system is mounted below `/tmp` for a moment. */
function formatter(pod: string, nodeName: string, devices: readonly string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod, namespace: 'kube-system' },
    spec: {
      nodeName,
      serviceAccountName: name,
      restartPolicy: 'Never',
      containers: [
        {
          name: 'init',
          image: 'stowage:0.1.0',
          imagePullPolicy: 'Never',
          args: ['drives', 'init', ...devices, '--node-name', nodeName, '--yes'],
          securityContext: { privileged: true, runAsUser: 0, readOnlyRootFilesystem: true },
          volumeMounts: [
            { name: 'devices', mountPath: '/dev' },
            { name: 'tmp', mountPath: '/tmp' },
          ],
        },
      ],
      volumes: [
        { name: 'devices', hostPath: { path: '/dev', type: 'Directory' } },
        { name: 'tmp', emptyDir: {} },
      ],
    },
  };
}

const account = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: 'kube-system' },
};

const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules: [
    { apiGroups: ['stowage.dev'], resources: ['drives'], verbs: ['get', 'list', 'create', 'patch'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
  ],
};

const roleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
  subjects: [{ kind: 'ServiceAccount', name, namespace: 'kube-system' }],
};
