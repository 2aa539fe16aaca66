import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeWithKubectl } from './kubectl.ts';
import { tableOf } from './kubectl-output.ts';
import { node, pods, statefulSet, storage } from './manifests.ts';
import { delay } from './stowage-process.ts';

describeWithKubectl('kubectl get', (kubectl) => {
  beforeAll(async () => {
    await kubectl.ok('create -f', kubectl.file([node, pods, storage, statefulSet].join('---')));
  });

  describe('prints tables', () => {
    test.each([
      [
        'pods',
        ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
        [
          ['db', '0/1', 'Pending', '0', '#'],
          ['web', '0/1', 'Pending', '0', '#'],
        ],
      ],
      [
        'pods -o wide',
        ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'],
        [
          ['db', '0/1', 'Pending', '0', '#', '<none>', '<none>', '<none>', '<none>'],
          ['web', '0/1', 'Pending', '0', '#', '<none>', 'node-a', '<none>', '<none>'],
        ],
      ],
      [
        'pv',
        [
          'NAME',
          'CAPACITY',
          'ACCESS MODES',
          'RECLAIM POLICY',
          'STATUS',
          'CLAIM',
          'STORAGECLASS',
          'VOLUMEATTRIBUTESCLASS',
          'REASON',
          'AGE',
        ],
        [['pv-a', '2Gi', 'RWO', 'Delete', 'Pending', '', 'fast', '<unset>', '', '#']],
      ],
      [
        'pvc -o wide',
        [
          'NAME',
          'STATUS',
          'VOLUME',
          'CAPACITY',
          'ACCESS MODES',
          'STORAGECLASS',
          'VOLUMEATTRIBUTESCLASS',
          'AGE',
          'VOLUMEMODE',
        ],
        [['data', 'Pending', '', '', '', 'fast', '<unset>', '#', 'Filesystem']],
      ],
      [
        'sc',
        ['NAME', 'PROVISIONER', 'RECLAIMPOLICY', 'VOLUMEBINDINGMODE', 'ALLOWVOLUMEEXPANSION', 'AGE'],
        [['fast', 'csi.example.com', 'Delete', 'WaitForFirstConsumer', 'true', '#']],
      ],
      [
        'nodes -o wide',
        [
          'NAME',
          'STATUS',
          'ROLES',
          'AGE',
          'VERSION',
          'INTERNAL-IP',
          'EXTERNAL-IP',
          'OS-IMAGE',
          'KERNEL-VERSION',
          'CONTAINER-RUNTIME',
        ],
        [
          [
            'node-a',
            'Ready',
            '<none>',
            '#',
            'v1.36.3',
            '10.0.0.1',
            '<none>',
            'Debian GNU/Linux 12',
            expect.stringContaining('6.1.0'),
            'containerd://2.0.0',
          ],
        ],
      ],
      [
        'sts -o wide',
        ['NAME', 'READY', 'AGE', 'CONTAINERS', 'IMAGES'],
        [['store', '0/3', '#', 'main', 'redis:8']],
      ],
      [
        'ns',
        ['NAME', 'STATUS', 'AGE'],
        ['default', 'kube-node-lease', 'kube-public', 'kube-system'].map((name) => [name, 'Active', '#']),
      ],
      [
        'svc',
        ['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE'],
        [['kubernetes', 'ClusterIP', '10.96.0.1', '<none>', '443/TCP', '#']],
      ],
      [
        'pods -A -L app',
        ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'APP'],
        [
          ['default', 'db', '0/1', 'Pending', '0', '#', 'db'],
          ['default', 'web', '0/1', 'Pending', '0', '#', 'web'],
        ],
      ],
    ] as const)('of %s', async (what, header, rows) => {
      expect(tableOf(await kubectl.ok(`get ${what}`))).toEqual([header, ...rows]);
    });

    test('of several kinds, one after another', async () => {
      const [first = '', second = ''] = (await kubectl.ok('get pods,sts')).split('\n\n');
      expect(tableOf(first).map(([name]) => name)).toEqual(['NAME', 'pod/db', 'pod/web']);
      expect(tableOf(second).map(([name]) => name)).toEqual(['NAME', 'statefulset.apps/store']);
    });

    test('in the order of --sort-by', async () => {
      const byName = await kubectl.ok('get pods --no-headers --sort-by=.metadata.name');
      const byImage = await kubectl.ok('get pods --no-headers --sort-by={.spec.containers[0].image}');
      expect([byName, byImage].map(firstWords)).toEqual([
        ['db', 'web'],
        ['web', 'db'],
      ]);
    });

    test('with pages of one object as with one page', async () => {
      expect(tableOf(await kubectl.ok('get pods --chunk-size=1'))).toEqual(
        tableOf(await kubectl.ok('get pods')),
      );
    });
  });

  describe('selects', () => {
    test.each([
      ['-l app=web', ['web']],
      ['-l app!=web', ['db']],
      ['-l app', ['db', 'web']],
      ['-l !app', []],
      ['--field-selector=spec.nodeName=node-a', ['web']],
      ['--field-selector=spec.nodeName=', ['db']],
      ['--field-selector=status.phase=Running', []],
      ['--field-selector=status.phase!=Running,metadata.name!=db', ['web']],
    ])('%s', async (selector, names) => {
      const printed = await kubectl.ok(`get pods -o name ${selector}`);
      expect(printed).toBe(names.map((name) => `pod/${name}\n`).join(''));
    });

    test('with a set', async () => {
      expect(await kubectl.ok('get pods -o name -l', 'app in (web,db),app notin (db)')).toBe('pod/web\n');
    });

    test('not by an unsupported field', async () => {
      expect(await kubectl.fails('get pods --field-selector=spec.foo=bar')).toBe(
        'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "spec.foo=bar": field label not supported: spec.foo\n',
      );
    });
  });

  describe('prints in other formats', () => {
    test('names', async () => {
      expect(await kubectl.ok('get pods,pvc,sts -o name')).toBe(
        'pod/db\npod/web\npersistentvolumeclaim/data\nstatefulset.apps/store\n',
      );
    });

    test('jsonpath', async () => {
      const template = 'jsonpath={range .items[*]}{.metadata.name}={.spec.containers[0].image} {end}';
      expect(await kubectl.ok('get pods -o', template)).toBe('db=postgres:17 web=nginx:1.27 ');
    });

    test('custom columns', async () => {
      expect(
        await kubectl.ok('get pods -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image'),
      ).toBe('NAME   IMAGE\ndb     postgres:17\nweb    nginx:1.27\n');
    });

    test('JSON, with defaults filled in', async () => {
      expect(JSON.parse(await kubectl.ok('get pod db -o json'))).toMatchObject({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'db', namespace: 'default', labels: { app: 'db' }, generation: 1 },
        spec: { restartPolicy: 'Always', schedulerName: 'default-scheduler', dnsPolicy: 'ClusterFirst' },
        status: { phase: 'Pending', qosClass: 'BestEffort' },
      });
    });

    test('YAML, equal to JSON', async () => {
      const [yaml, json] = await Promise.all([
        kubectl.ok('get pods -o yaml'),
        kubectl.ok('get pods -o json'),
      ]);
      expect(parse(yaml)).toEqual(JSON.parse(json));
      expect(JSON.parse(json)).toMatchObject({ kind: 'List', items: [{ kind: 'Pod' }, { kind: 'Pod' }] });
    });

    test('any raw path', async () => {
      expect(await kubectl.ok('get --raw /readyz')).toBe('ok');
    });
  });

  test.each([
    ['pod nope', 'Error from server (NotFound): pods "nope" not found\n'],
    [
      'pods nope-1 nope-2',
      'Error from server (NotFound): pods "nope-1" not found\nError from server (NotFound): pods "nope-2" not found\n',
    ],
    ['sc nope', 'Error from server (NotFound): storageclasses.storage.k8s.io "nope" not found\n'],
    ['foos', 'error: the server doesn\'t have a resource type "foos"\n'],
  ])('%s does not exist', async (what, complaint) => {
    expect(await kubectl.fails(`get ${what}`)).toBe(complaint);
  });

  test('an empty list is reported', async () => {
    const { status, stderr } = await kubectl.run(['get', 'jobs']);
    expect([status, stderr]).toEqual([0, 'No resources found in default namespace.\n']);
  });

  test('-w continues with changes', async () => {
    await kubectl.ok('create configmap before');
    const watch = kubectl.begin('get configmaps -w --no-headers');
    try {
      await until(() => watch.lines().length > 0);
      await kubectl.ok('create configmap watched');
      await kubectl.ok('patch configmap watched -p {"data":{"a":"1"}}');
      await kubectl.ok('delete configmap watched');
      await until(() => watch.lines().filter((line) => line.startsWith('watched')).length >= 3);
      const seen = watch.lines().filter((line) => line.startsWith('watched'));
      expect(seen.map((line) => line.split(/\s+/)[1])).toEqual(['0', '1', '1']);
    } finally {
      await watch.stop();
    }
  });

  test('-w on one object, with --output-watch-events', async () => {
    await kubectl.ok('create configmap one');
    const watch = kubectl.begin('get configmap one -w --no-headers --output-watch-events');
    try {
      await until(() => watch.lines().length === 1);
      await kubectl.ok('annotate configmap one a=b');
      await kubectl.ok('delete configmap one');
      await until(() => watch.lines().length >= 3);
      expect(watch.lines().map((line) => line.split(/\s+/)[0])).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    } finally {
      await watch.stop();
    }
  });
});

function firstWords(text: string): (string | undefined)[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ')[0]);
}

/** The machine may be busy. */
const outputMaxMs = 120_000;

async function until(happened: () => boolean): Promise<void> {
  const giveUpAtMs = Date.now() + outputMaxMs;
  while (!happened()) {
    if (Date.now() > giveUpAtMs) throw new Error('the expected output did not appear');
    await delay(25);
  }
}
