import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/kube/api/meta.ts';
import { customResourceDefinitions } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import { kubernetesRelease } from './programs.ts';
import { isRetry } from './testing/is-retry.ts';
import { acceptedWrites } from './testing/kinds/accepted-writes.ts';
import { refusedByDisks } from './testing/kinds/refused-by-disks.ts';
import { refusedByDrives } from './testing/kinds/refused-by-drives.ts';
import { tables } from './testing/kinds/tables.ts';
import {
  causes,
  clientOf,
  type Example,
  exampleOf,
  examples,
  merged,
  tryWrite,
} from './testing/kinds/try-write.ts';
import { untilPasses } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

const definitions = join(projectRoot, 'deploy/crds');
const capacityBytes = 953_482_739_712;
const driveName = 'n1-b7f6c1de';

describe.skipIf(lacks(...serverPrograms)).each(['kubernetes', 'stowage'] as const)(
  'our kinds, served by %s',
  (server) => {
    const bed = sharedTestBed({ server });
    const release = server === 'kubernetes' ? kubernetesRelease(process.env) : '1.36';
    let cluster: Cluster;

    const kubectl = async (line: string, input = '') => {
      const { stdout, code, ...result } = await bed().kubectl(line.split(' '), input);
      // The embedded server warns that no controller acts on our preview kinds yet.
      const stderr = result.stderr.replace(/^Warning: .*; it is stored only\n/gm, '');
      expect({ line, stderr, code }).toEqual({ line, stderr: '', code: 0 });
      return stdout;
    };

    beforeAll(async () => {
      cluster = await bed().connect();
      await kubectl(`apply --server-side -f ${definitions}`);
      await kubectl('wait --for=condition=Established crd --all --timeout=300s');
      // kubectl finds a kind some time after it is established.
      await untilPasses(() => kubectl(`apply --server-side -f ${examples}`));
      await kubectl(`apply --server-side --subresource=status -f ${examples}`);
    });

    test('are established without warnings', async () => {
      const { items } = await cluster.resource(customResourceDefinitions).list();
      const ours = items.filter(({ metadata }) => metadata?.name?.endsWith('.stowage.dev'));
      const conditions = ours.map(({ status }) =>
        status?.conditions?.map(({ type, status }) => [type, status]),
      );
      const fine = [
        ['Established', 'True'],
        ['NamesAccepted', 'True'],
      ];
      expect(conditions.map((each) => each?.toSorted())).toEqual(Array(8).fill(fine));
    });

    test.each(Object.entries(tables))('are shown by kubectl get %s', async (what, table) => {
      const shown = await kubectl(`get ${what}`);
      expect(shown.replace(/(?<= )\d+[smh]\d*s?(?=\s)/g, '0s').replace(/ +/g, ' ')).toBe(table);
    });

    test('have field descriptions in kubectl explain', async () => {
      // The API server publishes schemas some time after it serves the kinds.
      const explain = async (what: string) => (await bed().kubectl(['explain', what])).stdout;
      await expect
        .poll(() => explain('drive.spec.volumes.sizeBytes'))
        .toMatch(/A\s+volume\s+never\s+shrinks/);
      await expect
        .poll(() => explain('stdc.status.storage.pools'))
        .toMatch(/The largest volume[\s\S]*name\s+<string> -required-/);
    });

    test.each([
      ['Drive', 'spec.nodeName=n1', 1],
      ['Drive', 'spec.nodeName=n2', 0],
      ['Drive', 'spec.accessTier=Hot,status.state=Ready', 1],
      ['DiskSchedule', 'spec.nodeID=example-node', 1],
      ['Volume', 'spec.nodeID=example-node,spec.backingImage=b1', 1],
      ['Replica', 'spec.volumeName=v1,spec.nodeID=example-node', 1],
      ['Replica', 'spec.diskID!=aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', 0],
    ])('of kind %s with %s are %i', async (kind, fieldSelector, count) => {
      expect((await clientOf(cluster, kind).list({ fieldSelector })).items).toHaveLength(count);
    });

    test.each(Object.entries(acceptedWrites))('accept %s', async (_, given) => {
      expect(await tryWrite(cluster, given)).toEqual(['accepted']);
    });

    test.each(Object.entries({ ...refusedByDrives, ...refusedByDisks }))('reject %s', async (_, given) => {
      const { because, becauseBefore136 = because } = given;
      const expected = release === '1.36' ? because : becauseBefore136;
      const normalized = (causes: readonly string[]) =>
        causes.map((cause) => (release === '1.34' ? withoutValue(cause) : cause)).toSorted();
      expect(normalized(await tryWrite(cluster, given))).toEqual(normalized(expected));
    });

    test('let writers of a ledger apply their own entries while there is free space', async ({ task }) => {
      const drives = clientOf(cluster, 'Drive');
      const { status: _, ...given } = merged(exampleOf('drive'), { spec: { volumes: null } }) as Example;
      const name = isRetry(task) ? 'shared-again' : 'shared';
      await drives.create({ ...given, metadata: { name } });
      const status = { capacityBytes, freeBytes: capacityBytes };
      await drives.patch({ name }, { type: 'merge', body: { status } }, { subresource: 'status' });
      const sizeBytes = Math.floor(capacityBytes / 10);
      const apply = (writer: string, volumes: readonly object[]) => {
        const body = {
          apiVersion: 'stowage.dev/v1alpha1',
          kind: 'Drive',
          metadata: { name },
          spec: { volumes },
        };
        return causes(drives.patch({ name }, { type: 'apply', body }, { fieldManager: writer }));
      };
      const writers = Array.from({ length: 14 }, (_, index) => `writer-${index}`);
      const answers = await Promise.all(writers.map((name) => apply(name, [{ name, sizeBytes }])));
      const winners = writers.filter((_, index) => answers[index]![0] === 'accepted');
      expect(winners).toHaveLength(10);
      const refusal = `spec.volumes: Forbidden: the volumes would take ${11 * sizeBytes} bytes, and the drive has ${capacityBytes}; choose another drive, or a smaller size`;
      expect(new Set(answers.flat())).toEqual(new Set(['accepted', refusal]));
      expect(volumesOf(await drives.get({ name })).toSorted()).toEqual(winners.toSorted());

      expect(await apply('a person', [{ name: winners[0], sizeBytes: sizeBytes + 1 }])).toEqual([
        `.spec.volumes[name="${winners[0]}"].sizeBytes: conflict with "${winners[0]}"`,
      ]);
      expect(await apply(winners[0]!, [])).toEqual(['accepted']);
      expect(volumesOf(await drives.get({ name })).toSorted()).toEqual(winners.slice(1).toSorted());
    });

    test('can be migrated to a new version as documented', async () => {
      const crd = parse(readFileSync(join(definitions, 'stowage.dev_drives.yaml'), 'utf8'));
      const [old] = crd.spec.versions;
      const next = { ...old, name: 'v1beta1' };
      const apply = async (...versions: readonly object[]) =>
        await bed().kubectl(
          'apply --server-side --force-conflicts -f -'.split(' '),
          JSON.stringify({ ...crd, spec: { ...crd.spec, versions } }),
        );
      const stored = () => kubectl('get crd drives.stowage.dev -o jsonpath={.status.storedVersions}');
      const { spec } = (await clientOf(cluster, 'Drive').get({ name: driveName })) as Example;

      expect(await apply({ ...old, storage: false }, next)).toMatchObject({ stderr: '', code: 0 });
      await expect.poll(stored).toBe('["v1alpha1","v1beta1"]');
      await expect
        .poll(async () => (await bed().kubectl(['get', '--raw', '/apis/stowage.dev/v1beta1'])).stdout)
        .toContain('"drives"');
      expect((await apply(next)).stderr).toContain('must remain in spec.versions until a storage migration');
      let listed = '';
      await untilPasses(async () => {
        listed = await kubectl('get drives.v1beta1.stowage.dev -o json');
      });
      await kubectl('replace --validate=false -f -', listed);
      await kubectl(
        'patch crd drives.stowage.dev --subresource=status --type=merge -p {"status":{"storedVersions":["v1beta1"]}}',
      );
      expect(await apply(next)).toMatchObject({ stderr: '', code: 0 });
      const moved = cluster.resource({ ...clientOf(cluster, 'Drive').resource, version: 'v1beta1' });
      await expect
        .poll(async () => (await moved.get({ name: driveName })).apiVersion)
        .toBe('stowage.dev/v1beta1');
      expect(await moved.get({ name: driveName })).toMatchObject({ spec, status: { state: 'Ready' } });
    });
  },
);

/** If a value breaks one of our rules, 1.34 reports the type, while later releases report the value. */
function withoutValue(cause: string): string {
  return cause.replace(/(?<=: Invalid value: )("[^"]*"|-?\d+|null): /, '');
}

function volumesOf(drive: KubeObject): readonly string[] {
  const { spec } = drive as { spec: { volumes?: readonly { name: string }[] } };
  return (spec.volumes ?? []).map(({ name }) => name);
}
