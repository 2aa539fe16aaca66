import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject, onTestFinished } from 'vitest';
import { projectRoot } from '../../project-root.ts';
import type { TestBed } from '../test-bed.ts';

export const chartFolder = join(projectRoot, 'deploy/chart');

const outputMaxBytes = 64 * 1024 * 1024;

/** Nested values of the chart. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** Runs Helm; rejects with what it printed if it fails. With a bed, as the admin of its cluster. */
export async function helm(args: readonly string[], bed?: TestBed): Promise<string> {
  const folder = temporaryFolder();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ...(bed === undefined ? {} : { KUBECONFIG: bed.kubeconfig }),
  };
  const options = { env, maxBuffer: outputMaxBytes };
  try {
    const { stdout } = await promisify(execFile)(inject('kubernetesPrograms').helm!, [...args], options);
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`helm ${args.join(' ')}: ${stdout}${stderr}`, { cause: error });
  }
}

/** What Helm would install in kube-system, as one text. */
export async function rendered(values: ChartValues, ...flags: readonly string[]): Promise<string> {
  return await helm([
    'template',
    'stowage',
    chartFolder,
    '--namespace=kube-system',
    ...valueFlags(values),
    ...flags,
  ]);
}

/** A file with the values, for Helm's command line. */
export function valueFlags(values: ChartValues): readonly string[] {
  const path = join(temporaryFolder(), 'values.json');
  writeFileSync(path, JSON.stringify(values));
  return ['--values', path];
}

/** The only chart in test/kubernetes/charts. */
export function lastReleasedChart(): { readonly path: string; readonly version: string } {
  const folder = join(projectRoot, 'test/kubernetes/charts');
  const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.tgz'));
  const [, version = ''] = /^stowage-(.+)\.tgz$/.exec(name) ?? [];
  return { path: join(folder, name), version };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-helm-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
