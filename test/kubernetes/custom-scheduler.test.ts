import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { persistentVolumeClaims, pods } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import { runExample } from '../up/example-scheduler.ts';
import { temporaryFolder } from '../up/stowage-process.ts';
import { untilPasses } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'default';

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))(
  'the example of a custom scheduler',
  () => {
    test('places a pod with its disk on Kubernetes, with the rights of kube-scheduler', async () => {
      const bed = await startTestBed({
        controllerManager: { controllers: ['persistentvolume-binder-controller'] },
      });
      const manifest = await readFile(join(projectRoot, 'examples/custom-scheduler.yaml'), 'utf8');
      const applied = await bed.kubectl(['apply', '-f', '-'], manifest);
      expect(applied.stderr).toBe('');
      const untilPrinted = runExample(temporaryFolder(), bed.kubeconfigOf('scheduler'));
      await untilPrinted('db is on node-2: 1 existing volumes, 0 new ones');
      const cluster = await bed.connect();
      expect((await cluster.resource(pods).get({ namespace, name: 'db' })).spec?.nodeName).toBe('node-2');
      await untilPasses(async () => {
        const claim = await cluster.resource(persistentVolumeClaims).get({ namespace, name: 'data' });
        expect([claim.spec?.volumeName, claim.status?.phase]).toEqual(['ssd-2', 'Bound']);
      });
    });
  },
);
