import { stringify } from 'yaml';
import { writePrivateFile } from '../../../io/files/private-files.ts';

export interface KubeconfigInput {
  /** Such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM. */
  readonly certificate: string;
  readonly token: string;
}

const name = 'stowage';

/** Writes a kubeconfig for kubectl and client libraries; only its owner may read it. */
export async function writeKubeconfig(path: string, facts: KubeconfigInput): Promise<void> {
  await writePrivateFile(path, kubeconfigText(facts));
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
