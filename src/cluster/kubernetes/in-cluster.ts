import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { ConnectionSettings } from './connection-settings.ts';

/** Where the kubelet mounts a pod's service account. */
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The settings in a pod; undefined if this process does not run in one. */
export async function inClusterSettings(
  env: NodeJS.ProcessEnv,
  folder: string = serviceAccountFolder,
): Promise<ConnectionSettings | undefined> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
  if (host === '' || port === '') return undefined;
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => '');
  return {
    source: `the service account in ${folder}`,
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    certificateAuthority: { kind: 'file', path: join(folder, 'ca.crt') },
    ...(namespace.trim() === '' ? {} : { namespace: namespace.trim() }),
    user: { tokenFile: join(folder, 'token') },
  };
}
