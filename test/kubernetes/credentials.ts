import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { makeCertificate } from '../../src/io/tls/certificate.ts';
import type { BedFiles } from './command-lines.ts';

/** The users of a test bed: all rights, the rights of kube-scheduler, and only the rights that every user has. */
export const users = {
  admin: { name: 'admin', groups: ['system:masters'] },
  scheduler: { name: 'system:kube-scheduler', groups: [] },
  limited: { name: 'limited', groups: ['limited'] },
} as const;
export type UserName = keyof typeof users;

/** The server's certificate, the key of service accounts, and tokens; new for each test bed. */
export interface BedCredentials {
  readonly certificate: string;
  readonly tokens: Readonly<Record<UserName, string>>;
}

export async function writeCredentials(files: BedFiles): Promise<BedCredentials> {
  await mkdir(files.folder, { recursive: true });
  // Pods on real nodes reach it by the address of the Service `kubernetes`.
  const { certificate, key } = makeCertificate(Date.now(), ['10.96.0.1']);
  const serviceAccounts = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const token = () => randomBytes(16).toString('hex');
  const tokens = { admin: token(), scheduler: token(), limited: token() };
  await Promise.all([
    writeFile(files.certificate, certificate),
    writeFile(files.certificateKey, key, { mode: 0o600 }),
    writeFile(files.serviceAccountKey, serviceAccounts.export({ type: 'sec1', format: 'pem' }), {
      mode: 0o600,
    }),
    writeFile(files.tokens, tokensText(tokens), { mode: 0o600 }),
  ]);
  return { certificate, tokens };
}

function tokensText(tokens: BedCredentials['tokens']): string {
  const lines = Object.entries(users).map(([user, { name, groups }]) => {
    const token = tokens[user as UserName];
    return `${token},${name},${name},"${groups.join(',')}"\n`;
  });
  return lines.join('');
}

export function kubeconfigPath({ folder }: BedFiles, user: UserName): string {
  return join(folder, user === 'admin' ? 'kubeconfig' : `kubeconfig-${user}`);
}

export async function writeKubeconfigs(files: BedFiles, access: BedCredentials, port: number): Promise<void> {
  const data = Buffer.from(access.certificate).toString('base64');
  for (const user of Object.keys(users) as UserName[]) {
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'bed',
      clusters: [{ name: 'bed', cluster: { server: urlOf(port), 'certificate-authority-data': data } }],
      users: [{ name: user, user: { token: access.tokens[user] } }],
      contexts: [{ name: 'bed', context: { cluster: 'bed', user } }],
    };
    await writeFile(kubeconfigPath(files, user), JSON.stringify(kubeconfig), { mode: 0o600 });
  }
}

function urlOf(port: number): string {
  return `https://127.0.0.1:${port}`;
}

/** The status of the response to a request of the admin; undefined if there was none. */
export function statusOf(port: number, path: string, access: BedCredentials): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${access.tokens.admin}` };
    const options = { ca: access.certificate, headers, agent: false, timeout: 2_000 } as const;
    const asked = request(`${urlOf(port)}${path}`, options, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(undefined));
    asked.end();
  });
}
