import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { EmbeddedServer } from '../../src/apiserver/embedded-server.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { kubectlApplies, type TypedApply } from './apply/kubectl-applies.ts';
import { isRetry } from './testing/is-retry.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

/** The kubectl of the machine is usually older. If there is none, only our own is tested. */
const installedKubectl = '/usr/bin/kubectl';

const kubectls: readonly (readonly [string, () => string])[] = [
  ['of the same version', () => inject('kubernetesPrograms').kubectl ?? ''],
  ['that is installed here', () => installedKubectl],
];

describe.skipIf(lacks(...serverPrograms))('kubectl apply --server-side', () => {
  const bed = sharedTestBed();
  let embedded: EmbeddedServer;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stowage-apply-'));
    embedded = await EmbeddedServer.start({
      clock: realClock,
      ids: systemIds,
      random: systemRandom,
      onError: (error, where) => {
        throw new Error(`the server failed at ${where}`, { cause: error });
      },
    });
    await writeFile(join(folder, 'kubeconfig'), embedded.kubeconfig);
  });

  afterAll(async () => {
    await embedded.close();
    await rm(folder, { recursive: true });
  });

  test.for(kubectls)(
    'kubectl %s prints the same with our server as with the real one',
    { timeout: 900_000 },
    async ([name, program], { task }) => {
      if (!existsSync(program())) return;
      const namespace = `${name.replaceAll(' ', '-')}${isRetry(task) ? '-again' : ''}`;
      const unexpectedDifferences: string[] = [];
      const both = [bed().kubeconfig, join(folder, 'kubeconfig')];
      for (const typed of [{ line: `create namespace ${namespace}` }, ...kubectlApplies]) {
        const [real, ours] = await Promise.all(
          both.map((kubeconfig) => type(program(), { kubeconfig, namespace, home: folder }, typed)),
        );
        if (real !== ours)
          unexpectedDifferences.push(`kubectl ${typed.line}\n--- real\n${real}\n--- ours\n${ours}`);
      }
      expect(unexpectedDifferences.join('\n\n')).toBe('');
    },
  );
});

interface Place {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly home: string;
}

async function type(
  program: string,
  { kubeconfig, namespace, home }: Place,
  typed: TypedApply,
): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: home, KUBECONFIG: kubeconfig };
  const args = ['--namespace', namespace, '--cache-dir', `${kubeconfig}.cache`, ...typed.line.split(' ')];
  return await new Promise((resolve) => {
    const child = execFile(program, args, { env }, (error, stdout, stderr) => {
      resolve(masked(`${stdout}${stderr}exit ${error?.code ?? 0}`));
    });
    child.stdin?.end(typed.input ?? '');
  });
}

/** Owners are sorted by time, which may or may not fall into the same second. */
function withSortedOwners(yaml: string): string {
  return yaml.replace(/(?<=\n {2}managedFields:\n)(?: {2}- (?:.*\n {4})*.*\n)+/, (entries) =>
    entries
      .split(/^(?= {2}- )/m)
      .sort()
      .join(''),
  );
}

function masked(text: string): string {
  return withSortedOwners(text)
    .replace(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})/g, '<time>')
    .replace(/\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d+ [+-]\d{4}/g, '<time>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>')
    .replace(/resourceVersion: "\d+"/g, 'resourceVersion: <version>')
    .replace(/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1')
    .replace(/DESCRIPTION:[\s\S]*?(?=\nexit)/, 'DESCRIPTION');
}
