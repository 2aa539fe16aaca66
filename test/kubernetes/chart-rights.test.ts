/** Accounts of the chart that no other test of rights has: the controllers beside the driver of drives, and the extender. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { CSIStorageCapacity } from '../../src/kube/api/storage.ts';
import { csiStorageCapacities, nodes, pods, storageClasses } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import { DriverProcess } from '../up/driver-process.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { applied, startAuditedBed } from './testing/audited-bed.ts';
import {
  auditedRequestsOf,
  grantedRights,
  requestsBeyond,
  untilAllUsed,
  untilGranted,
} from './testing/audited-rights.ts';
import { claimThroughItsLife, makeNodeWithDrive } from './testing/drive-claims.ts';
import { failTwice } from './testing/failing-claim.ts';
import { type ChartValues, chartFolder, helm, rendered, valueFlags } from './testing/helm.ts';
import {
  argumentsOf,
  environmentOf,
  type InstalledWorkload,
  makePodOf,
  workloadIn,
} from './testing/installed-workload.ts';
import { main, serviceAccountKubeconfig, until } from './testing/run-scheduler.ts';
import { lacks, serverPrograms } from './vitest-beds.ts';

const namespace = 'default';
const manifest = join(projectRoot, 'deploy/drives.yaml');
const user = 'system:serviceaccount:kube-system:stowage-drives';
const extenderUser = 'system:serviceaccount:kube-system:stowage-extender';

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))('the accounts of the chart', () => {
  test('the controllers of drives create, publish, expand and delete, and use every right of their role', {
    timeout: 900_000,
  }, async () => {
    const { bed, folder, auditLog } = await startAuditedBed([
      'persistentvolume-binder-controller',
      'persistentvolume-protection-controller',
      'persistentvolumeclaim-protection-controller',
    ]);
    await applied(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
    await applied(bed, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
    await applied(bed, ['apply', '-f', manifest]);
    const cluster = await bed.connect();
    const workload = workloadIn(readFileSync(manifest, 'utf8'), 'Deployment');
    await makePodOf(bed, workload);
    await makeNodeWithDrive(cluster);
    const driver = new DriverProcess(folder, 'controller', bed.kubeconfig);
    await driver.printed('calls are answered');
    const granted = grantedRights(manifest, ['stowage-drives-volumes', 'stowage-drives-volumes-leases']);
    await untilGranted(bed, user, granted);
    const run = await startControllers(bed, workload, join(folder, 'controller.sock'));
    onTestFailed(() => void process.stderr.write(run.stderr));

    const published = async () => (await cluster.resource(csiStorageCapacities).list()).items;
    const figure = await firstCapacityReport(published);
    expect(figure?.metadata?.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'stowage-drives' }]);
    const isPublishedAgain = async () =>
      (await published()).some(({ capacity }) => capacity !== figure?.capacity);
    await claimThroughItsLife(cluster, isPublishedAgain);
    await failTwice(cluster, { storageClassName: 'stowage-drives', node: 'n1', storage: '100Gi' });
    await cluster.resource(storageClasses).delete({ name: 'stowage-drives' });
    await until(async () => (await published()).length === 0, 200);

    const unused = () => {
      const audited = auditedRequestsOf(user, auditLog);
      expect(audited.forbidden).toEqual([]);
      // The account has the role of the driver too.
      expect(requestsBeyond(granted, audited)).toEqual([]);
      const { rights, namespacedRights } = audited;
      const used = new Set([...rights, ...namespacedRights]);
      return granted.filter((right) => !used.has(right));
    };
    await untilAllUsed(unused);
  });

  test.skipIf(lacks('helm'))(
    'the extender answers kube-scheduler with the certificates of the chart, and uses every right of its role',
    {
      timeout: 900_000,
    },
    async () => {
      const { bed, folder, auditLog } = await startAuditedBed();
      const values = { scheduler: { enabled: false }, extender: { enabled: true, bind: true } };
      await helm(['install', 'stowage', chartFolder, '--namespace=kube-system', ...valueFlags(values)], bed);
      const cluster = await bed.connect();
      await cluster.resource(nodes).create({ metadata: { name: 'n1' } });
      await cluster
        .resource(pods)
        .create({ metadata: { namespace, name: 'p' }, spec: { containers: [main] } });
      const { uid } = (await cluster.resource(pods).get({ namespace, name: 'p' })).metadata!;
      const server = await secretFiles(bed, folder, 'stowage-extender-tls');
      const client = await secretFiles(bed, folder, 'stowage-extender-client');
      const role = join(folder, 'extender.yaml');
      const untilExtenderMay = async (given: ChartValues) => {
        writeFileSync(role, await rendered(given));
        await untilGranted(bed, extenderUser, grantedRights(role));
      };
      await untilExtenderMay(values);
      const url = await startExtender(bed, server);
      const bound = { PodName: 'p', PodNamespace: namespace, PodUID: uid, Node: 'n1' };
      expect(await post(`${url}/bind`, bound, { ca: client('ca.crt') })).toMatchObject({ status: 403 });
      const identity = { ca: client('ca.crt'), cert: client('tls.crt'), key: client('tls.key') };
      await until(async () => {
        const { status, body } = await post(`${url}/bind`, bound, identity);
        return status === 200 && (JSON.parse(body) as { readonly Error?: string }).Error === '';
      }, 200);
      expect((await cluster.resource(pods).get({ namespace, name: 'p' })).spec?.nodeName).toBe('n1');

      const everyRightIsUsed = async () => {
        const unused = () => {
          const { rights, forbidden } = auditedRequestsOf(extenderUser, auditLog);
          expect(forbidden).toEqual([]);
          return grantedRights(role).filter((right) => !rights.includes(right));
        };
        await untilAllUsed(unused);
      };
      await everyRightIsUsed();
      const allRules = { ...values, extender: { ...values.extender, allRules: true } };
      await helm(
        ['upgrade', 'stowage', chartFolder, '--namespace=kube-system', ...valueFlags(allRules)],
        bed,
      );
      await untilExtenderMay(allRules);
      await startExtender(bed, server, '--all-rules');
      await everyRightIsUsed();
    },
  );
});

/** The first figure that is published. */
async function firstCapacityReport(
  published: () => Promise<readonly CSIStorageCapacity[]>,
): Promise<CSIStorageCapacity | undefined> {
  let found: CSIStorageCapacity | undefined;
  await until(async () => {
    found = (await published()).find(({ capacity }) => capacity !== undefined);
    return found !== undefined;
  }, 200);
  return found;
}

/** Runs the server until the test ends, with the files of its Secret; returns its address. */
async function startExtender(
  bed: TestBed,
  secret: (key: string) => string,
  ...flags: readonly string[]
): Promise<string> {
  const extender = new StowageProcess([
    'extender',
    '--listen=127.0.0.1:0',
    `--tls-cert=${secret('tls.crt')}`,
    `--tls-key=${secret('tls.key')}`,
    `--client-ca=${secret('ca.crt')}`,
    ...flags,
    '--kubeconfig',
    await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-extender'),
  ]);
  onTestFinished(() => extender.kill());
  onTestFailed(() => void process.stderr.write(extender.stderr));
  await extender.answers();
  const [, url = ''] = /^export STOWAGE_EXTENDER=(.+)$/m.exec(extender.stdout) ?? [];
  return url;
}

/** The container `volumes` of the Deployment, as a process. */
async function startControllers(
  bed: TestBed,
  workload: InstalledWorkload,
  socket: string,
): Promise<StowageProcess> {
  const args = argumentsOf(workload, 'volumes', `unix://${socket}`);
  const kubeconfig = await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-drives');
  const run = new StowageProcess([...args, '--kubeconfig', kubeconfig], undefined, environmentOf(workload));
  onTestFinished(() => run.kill());
  return run;
}

/** The paths of the files of a Secret, as a pod would mount it. */
async function secretFiles(bed: TestBed, folder: string, name: string): Promise<(key: string) => string> {
  const text = await applied(bed, ['-n', 'kube-system', 'get', 'secret', name, '-o', 'json']);
  const { data } = JSON.parse(text) as { readonly data: Readonly<Record<string, string>> };
  const place = join(folder, name);
  mkdirSync(place);
  for (const [key, value] of Object.entries(data))
    writeFileSync(join(place, key), Buffer.from(value, 'base64'), { mode: 0o600 });
  return (key) => join(place, key);
}

interface Identity {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

async function post(
  url: string,
  body: object,
  files: Identity,
): Promise<{ readonly status: number; readonly body: string }> {
  const tls = Object.fromEntries(Object.entries(files).map(([name, path]) => [name, readFileSync(path)]));
  return await new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', ...tls }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    call.once('error', reject);
    call.end(JSON.stringify(body));
  });
}
