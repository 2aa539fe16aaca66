import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { MeasuredServer } from './subject.ts';

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** The server of a kubeconfig with one cluster and a token. */
export function connectionOf(path: string): Pick<MeasuredServer, 'host' | 'port' | 'authority' | 'token'> {
  const { clusters, users } = parse(readFileSync(path, 'utf8')) as Kubeconfig;
  const { server, 'certificate-authority-data': authority } = clusters[0].cluster;
  const { hostname, port } = new URL(server);
  return {
    host: hostname,
    port: Number(port),
    authority: Buffer.from(authority, 'base64').toString(),
    token: users[0].user.token,
  };
}
