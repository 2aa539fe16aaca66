/** The console as the chart installs it: its account, its rights, and what a viewer gets. */
import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { applied, startAuditedBed } from './testing/audited-bed.ts';
import { auditedRequestsOf, grantedRights, untilAllUsed, untilGranted } from './testing/audited-rights.ts';
import { argumentsOf, workloadIn } from './testing/installed-workload.ts';
import { makeNode, serviceAccountKubeconfig, until, untilAllowed } from './testing/run-scheduler.ts';
import { lacks, serverPrograms } from './vitest-beds.ts';

const manifest = join(projectRoot, 'deploy/console.yaml');
const user = 'system:serviceaccount:kube-system:stowage-console';
const serviceName = 'stowage-console.kube-system.svc';

describe.skipIf(lacks(...serverPrograms))('the console of the chart', () => {
  test('answers by the name of its Service, and uses every right of its role', {
    timeout: 900_000,
  }, async () => {
    const { bed, auditLog } = await startAuditedBed();
    await applied(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
    await applied(bed, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
    await applied(bed, ['apply', '-f', manifest]);
    await makeNode(await bed.connect(), 'n1');
    await untilGranted(bed, user, grantedRights(manifest));
    const port = await startConsole(bed);
    const { cookie } = await signIn(port, await tokenOfViewer(bed));
    expect(cookie).not.toBe('');
    const get = async (path: string, host = serviceName) =>
      await page(port, `data/${path}`, { host, cookie });

    expect(await signIn(port, 'wrong')).toMatchObject({ status: 401, cookie: '' });
    expect(await page(port, 'data/state')).toMatchObject({ status: 401 });
    expect(await get('state', 'elsewhere.example')).toMatchObject({ status: 421 });
    await until(async () => (await get('state')).body.includes('"n1"'), 200);
    expect(await get('queue')).toMatchObject({ status: 200 });
    expect(await get('plan?drain=node/n1')).toMatchObject({ status: 200 });

    const unused = () => {
      const { rights, forbidden } = auditedRequestsOf(user, auditLog);
      expect(forbidden).toEqual([]);
      return grantedRights(manifest).filter((right) => !rights.includes(right));
    };
    await untilAllUsed(unused);
  });
});

/** Runs the console until the test ends, with the arguments of the Deployment and its account; returns its port. */
async function startConsole(bed: TestBed): Promise<string> {
  const args = argumentsOf(workloadIn(readFileSync(manifest, 'utf8'), 'Deployment'), 'stowage');
  const kubeconfig = await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-console');
  const stowage = new StowageProcess([...args, '--kubeconfig', kubeconfig]);
  onTestFinished(() => stowage.kill());
  onTestFailed(() => void process.stderr.write(stowage.stderr));
  const address = () => /the console is on https:\/\/127\.0\.0\.1:(\d+)\//.exec(stowage.stderr)?.[1];
  await until(() => address() !== undefined, 300);
  return address() ?? '';
}

async function tokenOfViewer(bed: TestBed): Promise<string> {
  await applied(bed, ['create', 'serviceaccount', 'viewer', '-n', 'default']);
  await applied(bed, [
    'create',
    'clusterrolebinding',
    'viewer',
    '--clusterrole=cluster-admin',
    '--serviceaccount=default:viewer',
  ]);
  await untilAllowed(bed, 'system:serviceaccount:default:viewer', 'list', 'nodes');
  return (await applied(bed, ['create', 'token', 'viewer', '-n', 'default'])).trim();
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** `NAME=VALUE`, if the answer sets one. */
  readonly cookie: string;
}

/** As the form of the page does. */
async function signIn(port: string, token: string): Promise<Answer> {
  const body = String(new URLSearchParams({ token }));
  const headers = { origin: `https://${serviceName}`, 'content-length': Buffer.byteLength(body) };
  return await page(port, 'login', headers, body);
}

async function page(
  port: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body?: string,
): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST';
  // The certificate is made when the process starts, so no client can know it.
  const options = { method, headers: { host: serviceName, ...headers }, rejectUnauthorized: false };
  return await new Promise((resolve, reject) => {
    const call = request(`https://127.0.0.1:${port}/console/${path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      const [cookie = ''] = (response.headers['set-cookie']?.[0] ?? '').split(';');
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text, cookie }));
    });
    call.once('error', reject);
    call.end(body);
  });
}
