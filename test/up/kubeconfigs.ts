import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './stowage-process.ts';

/** A kubeconfig for a server and a token, without checking the certificate. */
export function kubeconfigFor(server: string, token: string): string {
  const file = join(temporaryFolder(), 'kubeconfig');
  const insecure = server.startsWith('https') ? { 'insecure-skip-tls-verify': true } : {};
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server, ...insecure } }],
    users: [{ name: 'a', user: { token } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  writeFileSync(file, JSON.stringify(content));
  return file;
}

/** No process listens on this port. */
export const unavailableServer = 'https://127.0.0.1:1';
