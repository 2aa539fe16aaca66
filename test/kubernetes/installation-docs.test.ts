/** The commands of docs/installation.md for a cluster, run as a reader would. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import type { TestBed } from './test-bed.ts';
import { makeNode } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const controllers = [
  'daemonset-controller',
  'deployment-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'replicaset-controller',
];

describe.skipIf(lacks('helm', ...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kwok'))(
  'docs/installation.md',
  () => {
    test.each(['With Helm', 'Without Helm'])(
      '%s: every command works, in this order',
      { timeout: 1_200_000 },
      async (section) => {
        const bed = await startTestBed({ scheduler: true, kwok: true, controllerManager: { controllers } });
        const cluster = await bed.connect();
        for (const name of ['n1', 'n2']) await makeNode(cluster, name);
        const blocks = blocksIn(section);
        expect(blocks.length).toBeGreaterThan(0);
        for (const block of blocks) await runAsReader(bed, block);
      },
    );
  },
);

/** The blocks that `npm run test:docs` leaves to this test. */
function blocksIn(section: string): readonly string[] {
  const page = readFileSync(join(projectRoot, 'docs/installation.md'), 'utf8');
  const [, text = ''] = page.split(`### ${section}\n`);
  const [own = ''] = text.split(/^##/m);
  const marked = /<!-- try: skip, test:kubernetes runs it on a cluster -->\n\n```sh\n([\s\S]*?)^```$/gm;
  return [...own.matchAll(marked)].map(([, block = '']) => block);
}

async function runAsReader(bed: TestBed, block: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-reader-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const programs = inject('kubernetesPrograms');
  for (const name of ['helm', 'kubectl'] as const) symlinkSync(programs[name]!, join(folder, name));
  const env = { PATH: [folder, process.env.PATH].join(delimiter), HOME: folder, KUBECONFIG: bed.kubeconfig };
  try {
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block], { cwd: projectRoot, env });
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { readonly stderr?: string; readonly stdout?: string };
    throw new Error(`${block}\n${stdout}${stderr}`, { cause: error });
  }
}
