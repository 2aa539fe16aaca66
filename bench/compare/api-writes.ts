import { get } from 'node:https';
import { connectionOf } from '../apiserver/kubeconfig-connection.ts';

const writingVerbs = ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE'];

/**
 * The number of write requests to kube-apiserver by verb and resource, including rejected ones: `PATCH persistentvolumes/status` and so on.
 */
export type WriteCounts = ReadonlyMap<string, number>;

/** The writes of all clients together: the server does not count by client. */
export async function writeCounts(kubeconfig: string): Promise<WriteCounts> {
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of (await metricsPage(kubeconfig)).matchAll(
    /^apiserver_request_total\{(.*)\} (\S+)$/gm,
  )) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    if (!writingVerbs.includes(label('verb'))) continue;
    const subresource = label('subresource');
    const what = `${label('verb')} ${label('resource')}${subresource === '' ? '' : `/${subresource}`}`;
    counts.set(what, (counts.get(what) ?? 0) + Number(value));
  }
  return counts;
}

/** The writes between two readings, without those that are not part of the comparison. */
export function writesBetween(
  before: WriteCounts,
  after: WriteCounts,
  isLeftOut: (what: string) => boolean,
): WriteCounts {
  const added = [...after].map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const);
  return new Map(added.filter(([what, count]) => count > 0 && !isLeftOut(what)).sort());
}

function metricsPage(kubeconfig: string): Promise<string> {
  const { host, port, authority, token } = connectionOf(kubeconfig);
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const options = { host, port, path: '/metrics', ca: authority, headers, agent: false };
    get(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()));
    }).on('error', reject);
  });
}
