import { describe, expect, test } from 'vitest';
import { describeWithKubectl } from './kubectl.ts';
import { tableOf } from './kubectl-output.ts';
import { configMap } from './manifests.ts';

describeWithKubectl('kubectl writes', (kubectl) => {
  const dataOf = async (name: string) => JSON.parse(await kubectl.ok(`get cm ${name} -o jsonpath={.data}`));

  describe('create', () => {
    // These send protobuf since 1.32.
    test.each([
      ['namespace team', 'namespace/team created'],
      ['configmap settings --from-literal=a=b', 'configmap/settings created'],
      ['secret generic key --from-literal=a=b', 'secret/key created'],
      ['deployment web --image=nginx --replicas=2', 'deployment.apps/web created'],
      ['service clusterip web --tcp=80:8080', 'service/web created'],
      ['job once --image=busybox -- true', 'job.batch/once created'],
      ['cronjob often --image=busybox --schedule=@hourly -- true', 'cronjob.batch/often created'],
      ['serviceaccount robot', 'serviceaccount/robot created'],
      ['quota few --hard=pods=10', 'resourcequota/few created'],
      ['pdb careful --selector=app=web --min-available=1', 'poddisruptionbudget.policy/careful created'],
      ['priorityclass high --value=10', 'priorityclass.scheduling.k8s.io/high created'],
    ])('%s', async (what, printed) => {
      expect(await kubectl.ok(`create ${what}`)).toBe(`${printed}\n`);
    });

    test('and the objects are stored', async () => {
      expect(await dataOf('settings')).toEqual({ a: 'b' });
      expect(await kubectl.ok('get secret key -o jsonpath={.type}:{.data.a}')).toBe('Opaque:Yg==');
      expect(await kubectl.ok('get svc web -o jsonpath={.spec.ports[0].targetPort}')).toBe('8080');
      expect(await kubectl.ok('get job once -o jsonpath={.spec.template.spec.containers[0].command}')).toBe(
        '["true"]',
      );
      expect(
        await kubectl.ok('get cronjob often -o jsonpath={.spec.schedule}/{.spec.concurrencyPolicy}'),
      ).toBe('@hourly/Allow');
      expect(await kubectl.ok('get priorityclass high -o jsonpath={.value}')).toBe('10');
      expect(tableOf(await kubectl.ok('get deploy,pdb').then((text) => text.split('\n\n')[0] ?? ''))).toEqual(
        [
          ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE'],
          ['deployment.apps/web', '0/2', '0', '0', '#'],
        ],
      );
    });

    test('fails for an existing object', async () => {
      expect(await kubectl.fails('create configmap settings')).toBe(
        'error: failed to create configmap: configmaps "settings" already exists\n',
      );
    });

    test('stores nothing with --dry-run=server', async () => {
      expect(await kubectl.ok('create configmap tried --dry-run=server -o name')).toBe('configmap/tried\n');
      expect(await kubectl.ok('get configmap tried --ignore-not-found')).toBe('');
      expect(await kubectl.fails('create configmap settings --dry-run=server')).toContain('already exists');
    });

    test('run and expose', async () => {
      expect(await kubectl.ok('run lone --image=busybox --port=80')).toBe('pod/lone created\n');
      expect(await kubectl.ok('expose pod lone')).toBe('service/lone exposed\n');
      expect(await kubectl.ok('get svc lone -o jsonpath={.spec.selector}')).toBe('{"run":"lone"}');
    });

    test('a generated name', async () => {
      const file = kubectl.file({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } });
      expect(await kubectl.ok('create -f', file)).toMatch(/^configmap\/made-[a-z0-9]{5} created\n$/);
    });
  });

  describe('apply', () => {
    test('creates, detects no change, updates, and removes fields that are no longer in the manifest', async () => {
      const first = kubectl.file(configMap('applied', 'data: { a: "1", b: "1" }'));
      const second = kubectl.file(configMap('applied', 'data: { a: "2" }'));
      expect(await kubectl.ok('apply -f', first)).toBe('configmap/applied created\n');
      expect(await kubectl.ok('apply -f', first)).toBe('configmap/applied unchanged\n');
      await kubectl.ok('patch cm applied -p {"data":{"other":"mine"}}');
      expect(await kubectl.ok('apply --dry-run=server -f', second)).toBe(
        'configmap/applied configured (server dry run)\n',
      );
      expect(await dataOf('applied')).toEqual({ a: '1', b: '1', other: 'mine' });
      expect(await kubectl.ok('apply -f', second)).toBe('configmap/applied configured\n');
      expect(await dataOf('applied')).toEqual({ a: '2', other: 'mine' });
      expect(await kubectl.ok('apply view-last-applied cm applied -o json')).toContain('"a": "2"');
    });

    test('merges lists of a built-in kind by their keys', async () => {
      const labels = { app: 'merged' };
      const deployment = (image: string) => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'merged' },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
        },
      });
      await kubectl.ok('apply -f', kubectl.file(deployment('a:1')));
      await kubectl.ok('set env deploy/merged A=b');
      expect(await kubectl.ok('apply -f', kubectl.file(deployment('a:2')))).toBe(
        'deployment.apps/merged configured\n',
      );
      const [container] = JSON.parse(await kubectl.ok('get deploy merged -o json')).spec.template.spec
        .containers;
      expect(container).toMatchObject({ image: 'a:2', env: [{ name: 'A', value: 'b' }] });
    });

    test('rejects unknown fields and names all of them', async () => {
      const file = kubectl.file({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'bad', label: {} },
        spec: { containers: [{ name: 'c', image: 'i', imagePullPolice: 'x' }], nodename: 'x' },
      });
      expect(await kubectl.fails('apply -f', file)).toBe(
        `Error from server (BadRequest): error when creating "${file}": Pod in version "v1" cannot be handled as a Pod: strict decoding error: ` +
          'unknown field "metadata.label", unknown field "spec.containers[0].imagePullPolice", unknown field "spec.nodename"\n',
      );
      const { status, stderr } = await kubectl.run([
        'create',
        '--validate=warn',
        '--dry-run=server',
        '-f',
        file,
      ]);
      expect([status, stderr]).toEqual([
        0,
        expect.stringContaining('Warning: unknown field "spec.nodename"\n'),
      ]);
    });

    test('rejects a duplicate field', async () => {
      // kubectl itself drops the first of two equal keys, unless it sends the text unchanged.
      const file = kubectl.file('{"metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}');
      const path = '/api/v1/namespaces/default/configmaps?fieldValidation=Strict';
      expect(await kubectl.fails(`create --raw ${path} -f`, file)).toContain(
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"',
      );
    });

    test('prints validation errors by field', async () => {
      const file = kubectl.file({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'bad' },
        spec: { containers: [{ name: 'C_1', image: 'i', imagePullPolicy: 'x' }] },
      });
      const complaint = await kubectl.fails('apply -f', file);
      expect(complaint).toContain(
        'The Pod "bad" is invalid: \n* spec.containers[0].name: Invalid value: "C_1": a lowercase RFC 1123 label must consist of',
      );
      expect(complaint).toContain(
        '\n* spec.containers[0].imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"\n',
      );
    });

    test('diff prints what apply would change', async () => {
      const file = kubectl.file(configMap('differs', 'data: { a: "1" }'));
      await kubectl.ok('apply -f', file);
      expect(await kubectl.ok('diff -f', file)).toBe('');
      const { status, stdout } = await kubectl.run([
        'diff',
        '-f',
        kubectl.file(configMap('differs', 'data: { a: "2" }')),
      ]);
      expect([status, stdout]).toEqual([1, expect.stringContaining('-  a: "1"\n+  a: "2"\n')]);
      expect(await dataOf('differs')).toEqual({ a: '1' });
    });
  });

  describe('patch', () => {
    test('in three formats', async () => {
      await kubectl.ok('create cm patched --from-literal=a=1');
      expect(await kubectl.ok('patch cm patched -p {"data":{"b":"2"}}')).toBe('configmap/patched patched\n');
      expect(await kubectl.ok('patch cm patched -p {"data":{"b":"2"}}')).toBe(
        'configmap/patched patched (no change)\n',
      );
      await kubectl.ok('patch cm patched --type=merge -p {"data":{"a":null}}');
      await kubectl.ok('patch cm patched --type=json -p [{"op":"add","path":"/data/c","value":"3"}]');
      expect(await dataOf('patched')).toEqual({ b: '2', c: '3' });
      expect(
        await kubectl.fails('patch cm patched --type=json -p [{"op":"test","path":"/data/c","value":"4"}]'),
      ).toBe('The request is invalid: the server rejected our request due to an error in our request\n');
    });

    test('of the status changes only the status', async () => {
      await kubectl.ok('run state --image=busybox');
      const patch = '{"metadata":{"labels":{"no":"no"}},"status":{"phase":"Running","podIP":"10.1.0.1"}}';
      expect(await kubectl.ok('patch pod state --subresource=status -p', patch)).toBe('pod/state patched\n');
      expect(await kubectl.ok('get pod state -o wide --no-headers')).toMatch(
        /^state +0\/1 +Running +0 +\d+s +10\.1\.0\.1 /,
      );
      await kubectl.ok('patch pod state -p', '{"status":{"phase":"Failed"}}');
      expect(await kubectl.ok('get pod state -o jsonpath={.status.phase}')).toBe('Running');
    });

    test('of an immutable field is rejected', async () => {
      await kubectl.ok('create deployment fixed --image=nginx');
      expect(
        await kubectl.fails('patch deploy fixed -p', '{"spec":{"selector":{"matchLabels":{"app":"x"}}}}'),
      ).toBe(
        'The Deployment "fixed" is invalid: \n' +
          '* spec.template.metadata.labels: Invalid value: {"app":"fixed"}: `selector` does not match template `labels`\n' +
          '* spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable\n',
      );
    });
  });

  test('replace, also with force', async () => {
    const file = kubectl.file(configMap('replaced', 'data: { a: "2" }'));
    expect(await kubectl.fails('replace -f', file)).toContain('configmaps "replaced" not found');
    await kubectl.ok('create cm replaced --from-literal=b=1');
    const uid = await kubectl.ok('get cm replaced -o jsonpath={.metadata.uid}');
    expect(await kubectl.ok('replace -f', file)).toBe('configmap/replaced replaced\n');
    expect(await dataOf('replaced')).toEqual({ a: '2' });
    expect(await kubectl.ok('replace --force -f', file)).toMatch(
      /^configmap "replaced" deleted.*\nconfigmap\/replaced replaced\n$/,
    );
    expect(await kubectl.ok('get cm replaced -o jsonpath={.metadata.uid}')).not.toBe(uid);
  });

  test('an outdated version is rejected', async () => {
    await kubectl.ok('create cm raced');
    const old = JSON.parse(await kubectl.ok('get cm raced -o json'));
    await kubectl.ok('annotate cm raced a=b');
    expect(await kubectl.fails('replace -f', kubectl.file(old))).toMatch(
      /^Error from server \(Conflict\): error when replacing ".*": Operation cannot be fulfilled on configmaps "raced": the object has been modified; please apply your changes to the latest version and try again\n$/,
    );
  });

  test('edit, with an editor that changes the object, leaves it, or makes it invalid', async () => {
    await kubectl.ok('create cm edited --from-literal=key=old');
    const edit = (EDITOR: string) => kubectl.run(['edit', 'cm', 'edited'], { EDITOR });
    expect(await edit('sed -i "s/key: old/key: new/"')).toMatchObject({
      status: 0,
      stdout: 'configmap/edited edited\n',
    });
    expect(await dataOf('edited')).toEqual({ key: 'new' });
    expect(await edit('true')).toMatchObject({ status: 0, stderr: 'Edit cancelled, no changes made.\n' });
    expect((await edit('sed -i "s/key: new/key: [1]/"')).status).toBe(1);
    expect(await dataOf('edited')).toEqual({ key: 'new' });
  });

  test('label and annotate', async () => {
    await kubectl.ok('create cm marked');
    expect(await kubectl.ok('label cm marked tier=front')).toBe('configmap/marked labeled\n');
    expect(await kubectl.fails('label cm marked tier=back')).toBe(
      "error: 'tier' already has a value (front), and --overwrite is false\n",
    );
    expect(await kubectl.ok('label cm marked tier=back --overwrite')).toBe('configmap/marked labeled\n');
    expect(await kubectl.ok('get cm -l tier=back -o name')).toBe('configmap/marked\n');
    expect(await kubectl.ok('label cm marked tier-')).toBe('configmap/marked unlabeled\n');
    expect(await kubectl.ok('annotate cm marked note=hi')).toBe('configmap/marked annotated\n');
    expect(await kubectl.ok('get cm marked -o jsonpath={.metadata.annotations}')).toBe('{"note":"hi"}');
    expect(await kubectl.ok('annotate cm marked note-')).toBe('configmap/marked annotated\n');
    expect(await kubectl.fails('label cm marked bad=-x')).toContain(
      'a valid label must be an empty string or consist of alphanumeric characters',
    );
  });
});
