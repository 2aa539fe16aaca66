import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import { callStowage, temporaryFolder } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { makeNode, makePod, serviceAccountKubeconfig, until, untilPasses } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

interface Report {
  readonly server: { readonly version: string; readonly isEmbedded: boolean };
  readonly findings: readonly {
    readonly code: string;
    readonly detail: string;
    readonly object: { readonly name: string };
  }[];
  readonly unchecked: readonly { readonly check: string; readonly why: string }[];
}

async function doctor(kubeconfig: string): Promise<Report> {
  const { stdout, stderr } = await callStowage('doctor', '--kubeconfig', kubeconfig, '-o', 'json');
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

function found({ findings }: Report, code: string): readonly string[] {
  return findings.filter((finding) => finding.code === code).map(({ object }) => object.name);
}

async function apply(bed: TestBed, manifest: string): Promise<void> {
  const { stderr, code } = await bed.kubectl(
    ['apply', '--server-side', '--force-conflicts', '-f', '-'],
    manifest,
  );
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
}

async function applyDrives(bed: TestBed): Promise<void> {
  await apply(bed, manifest('crds/stowage.dev_drives.yaml'));
  const { code, stderr } = await bed.kubectl([
    'wait',
    '--for=condition=Established',
    'crd/drives.stowage.dev',
    '--timeout=300s',
  ]);
  expect([code, stderr]).toEqual([0, '']);
}

const manifest = (name: string) => readFileSync(join(projectRoot, 'deploy', name), 'utf8');

describe.skipIf(lacks(...serverPrograms))('doctor and bundle on a Kubernetes cluster', () => {
  test('find an empty cluster in order, and then the missing parts of an installation', async () => {
    const bed = await startTestBed();
    const empty = await doctor(bed.kubeconfig);
    expect(empty.server).toMatchObject({
      isEmbedded: false,
      version: expect.stringMatching(/^v1\.3[456]\./),
    });
    expect(empty.unchecked).toEqual([]);
    expect(found(empty, 'NotInstalled')).toHaveLength(1);
    expect(empty.findings.filter(({ code }) => !['NotInstalled', 'FeatureGate'].includes(code))).toEqual([]);

    const cluster = await bed.connect();
    await makeNode(cluster, 'n1');
    await makePod(cluster, 'waits');
    await apply(bed, manifest('stowage.yaml'));
    await applyDrives(bed);
    // Roles take effect some time after they were created.
    await untilPasses(async () => {
      const installed = await doctor(bed.kubeconfig);
      expect(found(installed, 'ComponentLacksRights')).toEqual([]);
      expect(found(installed, 'SchedulerNotRunning')).toEqual(['stowage']);
      expect(found(installed, 'DefinitionsMissing')).toContain('replicas.stowage.dev');
      expect(found(installed, 'DefinitionOutdated')).toEqual([]);
    }, 500);

    const { stdout } = await bed.kubectl(['get', 'clusterrolebindings', '-o', 'name']);
    const ours = stdout.split('\n').filter((name) => name.includes('/stowage'));
    expect(ours.length).toBeGreaterThan(0);
    await bed.kubectl(['delete', ...ours]);
    await until(
      async () => found(await doctor(bed.kubeconfig), 'ComponentLacksRights').includes('stowage'),
      500,
    );
  });

  test('with no permissions, say which are missing; a bundle lists its missing parts', async () => {
    const bed = await startTestBed();
    await applyDrives(bed);
    await bed.kubectl(['create', 'serviceaccount', 'no-rights']);
    const kubeconfig = await serviceAccountKubeconfig(bed, 'default', 'no-rights');
    const report = await doctor(kubeconfig);
    expect(report.unchecked).toContainEqual({
      check: 'the state of drives',
      why: 'no right to list drives.stowage.dev',
    });
    expect(found(report, 'CallerLacksRights')).toHaveLength(1);
    const file = join(temporaryFolder(), 'bundle.tar.gz');
    const limited = await callStowage('bundle', '--kubeconfig', kubeconfig, '--output-file', file);
    expect([limited.status, limited.stderr]).toEqual([0, '']);
    expect(limited.stdout).toMatch(/could not be read, manifest\.json says which\n$/);
    rmSync(file);
    const whole = await callStowage('bundle', '--kubeconfig', bed.kubeconfig, '--output-file', file);
    expect([whole.status, whole.stderr]).toEqual([0, '']);
    expect(whole.stdout).toMatch(/: \d+ files, \d+ KiB\n$/);
  });
});
