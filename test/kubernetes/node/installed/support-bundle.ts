import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { pods } from '../../../../src/kube/resources.ts';
import { runCommand } from '../commands.ts';
import type { InstalledBed } from './installed-bed.ts';

/** `stowage bundle` has the log and the metrics of every container of ours, by way of the kubelets, and misses nothing. */
export async function bundlesLogsAndMetrics(bed: InstalledBed): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bundle-'));
  try {
    const archive = join(folder, 'bundle.tar.gz');
    await bed.stowage('bundle', '--output-file', archive);
    await runCommand('tar', '-xzf', archive, '-C', folder);
    const content = join(folder, 'stowage-bundle');
    const containers = await ownContainers(bed);
    expect(await readdir(join(content, 'logs'))).toEqual(
      expect.arrayContaining(containers.map((name) => `${name}.log`)),
    );
    expect((await readdir(join(content, 'metrics'))).sort()).toEqual(
      containers.map((name) => `${name}.txt`).sort(),
    );
    for (const name of containers) {
      expect(await readFile(join(content, 'logs', `${name}.log`), 'utf8')).toContain('"level":"info"');
      expect(await readFile(join(content, 'metrics', `${name}.txt`), 'utf8')).toMatch(/^# TYPE \w+ /m);
    }
    const { notRead } = JSON.parse(await readFile(join(content, 'manifest.json'), 'utf8'));
    expect(notRead).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `NAMESPACE_POD.CONTAINER`. */
async function ownContainers(bed: InstalledBed): Promise<readonly string[]> {
  const labelSelector = 'app.kubernetes.io/name=stowage';
  const { items } = await bed.cluster.resource(pods).list({ labelSelector });
  return items.flatMap(({ metadata, spec }) =>
    (spec?.containers ?? []).map(({ name }) => `${metadata?.namespace}_${metadata?.name}.${name}`),
  );
}
