import { statSync } from 'node:fs';
import { stringify } from 'yaml';
import { readFileIfExists, writePrivateFile } from '../../../io/files/private-files.ts';

export interface KubeconfigInput {
  /** Such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM. */
  readonly certificate: string;
  readonly token: string;
}

const name = 'stowage';

/**
 * Writes a kubeconfig for kubectl and client libraries; only its owner may read it. A file that says the same already is left as it is, unless others
 * may read it: there may be no space for another.
 */
export async function writeKubeconfig(path: string, facts: KubeconfigInput): Promise<void> {
  const text = kubeconfigText(facts);
  if (await isPrivateWith(path, text)) return;
  await writePrivateFile(path, text);
}

async function isPrivateWith(path: string, text: string): Promise<boolean> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || (found.mode & 0o077) !== 0) return false;
  return (await readFileIfExists(path)) === text;
}

export function kubeconfigText({ server, certificate, token }: KubeconfigInput): string {
  const authority = Buffer.from(certificate).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  return stringify(config, { lineWidth: 0 });
}
