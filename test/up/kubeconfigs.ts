import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './stowage-process.ts';

/** A kubeconfig for a server and a token. `certificateAuthority` is in PEM; servers that no test reaches, and those without TLS, need none. */
export function kubeconfigFor(server: string, token: string, certificateAuthority?: string): string {
  const file = join(temporaryFolder(), 'kubeconfig');
  const authority =
    certificateAuthority === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') };
  // A token over plain HTTP would cause a warning.
  const user = server.startsWith('https') ? { token } : {};
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server, ...authority } }],
    users: [{ name: 'a', user }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  writeFileSync(file, JSON.stringify(content));
  return file;
}

/** No process listens on this port. */
export const unavailableServer = 'https://127.0.0.1:1';
