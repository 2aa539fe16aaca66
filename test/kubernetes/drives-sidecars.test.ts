/**
 * `drives.sidecars.enabled`: external-provisioner and external-resizer with the driver of local drives, with the rights of the chart. Their newest
 * versions are not in the Go module registry, so they are taken from a folder: `STOWAGE_SIDECARS=DIR`, with the programs of the images.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { csiStorageCapacities, storageClasses } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import { DriverProcess } from '../up/driver-process.ts';
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
import { rendered } from './testing/helm.ts';
import { argumentsOf, environmentOf, makePodOf, workloadIn } from './testing/installed-workload.ts';
import { serviceAccountKubeconfig, until } from './testing/run-scheduler.ts';
import { lacks, serverPrograms } from './vitest-beds.ts';

const folderOfSidecars = process.env.STOWAGE_SIDECARS ?? '';
const sidecars = ['csi-provisioner', 'csi-resizer'] as const;
const isMissing = !sidecars.every((name) => existsSync(join(folderOfSidecars, name)));
const roles = ['stowage-drives-sidecars'];
const user = 'system:serviceaccount:kube-system:stowage-drives';

describe.skipIf(isMissing || lacks(...serverPrograms, 'kube-controller-manager', 'helm'))(
  'the sidecars of Kubernetes with the driver of local drives',
  () => {
    test('create, publish, expand and delete, and use every right of their roles', {
      timeout: 900_000,
    }, async () => {
      const { bed, folder, auditLog } = await startAuditedBed([
        'persistentvolume-binder-controller',
        'persistentvolume-protection-controller',
        'persistentvolumeclaim-protection-controller',
      ]);
      await applied(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
      await applied(bed, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
      const text = await rendered({
        scheduler: { enabled: false },
        drives: { enabled: true, sidecars: { enabled: true } },
      });
      const manifest = join(folder, 'installed.yaml');
      writeFileSync(manifest, text);
      await applied(bed, ['apply', '-f', manifest]);
      const cluster = await bed.connect();
      const workload = workloadIn(text, 'Deployment');
      await makePodOf(bed, workload);
      await makeNodeWithDrive(cluster);
      const driver = new DriverProcess(folder, 'controller', bed.kubeconfig);
      await driver.printed('calls are answered');
      const kubeconfig = await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-drives');
      await untilGranted(bed, user, grantedRights(manifest, roles));
      for (const name of sidecars)
        startSidecar(
          name,
          [
            ...argumentsOf(workload, name, join(folder, 'controller.sock')),
            // A pod finds its namespace in the files of the service account.
            `--kubeconfig=${kubeconfig}`,
            '--leader-election-namespace=kube-system',
            ...(name === 'csi-provisioner' ? ['--capacity-poll-interval=1s'] : []),
          ],
          environmentOf(workload),
        );

      const published = async () => (await cluster.resource(csiStorageCapacities).list()).items;
      await until(async () => (await published()).some(({ capacity }) => capacity !== undefined), 200);
      const [figure] = await published();
      expect(figure?.metadata?.ownerReferences).toMatchObject([
        { kind: 'Deployment', name: 'stowage-drives' },
      ]);
      await failTwice(cluster, { storageClassName: 'stowage-drives', node: 'n1', storage: '100Gi' });
      await claimThroughItsLife(cluster, async () =>
        (await published()).some(({ capacity }) => capacity !== figure?.capacity),
      );
      await cluster.resource(storageClasses).delete({ name: 'stowage-drives' });
      await until(async () => (await published()).length === 0, 200);

      const unused = () => {
        const audited = auditedRequestsOf(user, auditLog);
        expect(audited.forbidden).toEqual([]);
        const granted = grantedRights(manifest, roles);
        // The account has the role of the driver too.
        expect(requestsBeyond(granted, audited)).toEqual([]);
        const used = new Set([...audited.rights, ...audited.namespacedRights]);
        return granted.filter((right) => !used.has(right));
      };
      await untilAllUsed(unused);
    });
  },
);

/** Until the test ends. */
function startSidecar(
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const program = join(folderOfSidecars, name);
  const sidecar = spawn(program, [...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk;
  };
  sidecar.stdout.on('data', read);
  sidecar.stderr.on('data', read);
  onTestFinished(() => void sidecar.kill('SIGKILL'));
  onTestFailed(() => void process.stderr.write(`--- ${name}\n${output}\n`));
  return sidecar;
}
