import { beforeAll, describe, expect, test } from 'vitest';
import { describeWithKubectl } from './kubectl.ts';
import { node, statefulSet, storage } from './manifests.ts';

describeWithKubectl('kubectl over the life of objects', (kubectl) => {
  beforeAll(async () => {
    await kubectl.ok('create -f', kubectl.file([node, storage].join('---')));
  });

  const create = (object: object) => kubectl.ok('create -f', kubectl.file(object));
  const pod = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'busybox' }], ...more },
  });

  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  // As the disruption controller would write it: no pod may be disrupted.
  const exhausted = {
    observedGeneration: 1,
    disruptionsAllowed: 0,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
  };

  describe('of nodes', () => {
    test('taint', async () => {
      expect(await kubectl.ok('taint node node-a k=v:NoSchedule')).toBe('node/node-a tainted\n');
      expect(await kubectl.fails('taint node node-a k=v:NoSchedule')).toContain(
        'already has k taint(s) with same effect(s) and --overwrite is false',
      );
      expect(await kubectl.ok('get node node-a -o jsonpath={.spec.taints}')).toBe(
        '[{"effect":"NoSchedule","key":"k","value":"v"}]',
      );
      expect(await kubectl.ok('taint node node-a k:NoSchedule-')).toBe('node/node-a untainted\n');
    });

    test('cordon and uncordon', async () => {
      expect(await kubectl.ok('cordon node-a')).toBe('node/node-a cordoned\n');
      expect(await kubectl.ok('get nodes --no-headers')).toMatch(/^node-a +Ready,SchedulingDisabled /);
      expect(await kubectl.ok('get nodes -o name --field-selector=spec.unschedulable=true')).toBe(
        'node/node-a\n',
      );
      expect(await kubectl.ok('cordon node-a')).toBe('node/node-a already cordoned\n');
      expect(await kubectl.ok('uncordon node-a')).toBe('node/node-a uncordoned\n');
      expect(await kubectl.ok('get nodes -o name --field-selector=spec.unschedulable=false')).toBe(
        'node/node-a\n',
      );
    });

    test('drain evicts pods, and stops at pods without a controller and at budgets', async () => {
      await create(pod('guest', { nodeName: 'node-a' }));
      await create(pod('kept', { nodeName: 'node-a' }));
      await kubectl.ok('create pdb kept --selector=app=kept --min-available=1');
      await kubectl.ok('patch pod kept --subresource=status -p', JSON.stringify({ status: running }));
      await kubectl.ok(
        'patch pdb kept --subresource=status --type=merge -p',
        JSON.stringify({ status: exhausted }),
      );
      expect(await kubectl.fails('drain node-a')).toContain(
        'cannot delete Pods that declare no controller (use --force to override): default/guest, default/kept',
      );
      const eviction = kubectl.file({ metadata: { name: 'kept', namespace: 'default' } });
      expect(
        await kubectl.fails('create --raw /api/v1/namespaces/default/pods/kept/eviction -f', eviction),
      ).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
      await kubectl.ok('delete pdb kept');
      expect(await kubectl.ok('drain node-a --force --grace-period=0 --timeout=120s')).toMatch(
        /pod\/(guest|kept) evicted\npod\/(guest|kept) evicted\nnode\/node-a drained\n$/,
      );
      expect(await kubectl.ok('get pods -o name --field-selector=spec.nodeName=node-a')).toBe('');
      await kubectl.ok('uncordon node-a');
    });
  });

  describe('wait', () => {
    test('for a condition', async () => {
      await create(pod('slow'));
      expect(await kubectl.fails('wait pod/slow --for=condition=Ready --timeout=1s')).toBe(
        'error: timed out waiting for the condition on pods/slow\n',
      );
      const waiting = kubectl.ok('wait pod/slow --for=condition=Ready --timeout=120s');
      await kubectl.ok(
        'patch pod slow --subresource=status -p {"status":{"conditions":[{"type":"Ready","status":"True"}]}}',
      );
      expect(await waiting).toBe('pod/slow condition met\n');
    });

    test('for a value', async () => {
      const waiting = kubectl.ok('wait pod/slow --for=jsonpath={.status.phase}=Running --timeout=120s');
      await kubectl.ok('patch pod slow --subresource=status -p {"status":{"phase":"Running"}}');
      expect(await waiting).toBe('pod/slow condition met\n');
    });

    test('for deletion', async () => {
      const waiting = kubectl.ok('wait pod/slow --for=delete --timeout=120s');
      await kubectl.ok('delete pod slow --now');
      // If kubectl wait starts too late, the pod is already gone, which is fine too.
      expect(await waiting).toMatch(/^(pod\/slow condition met\n)?$/);
      expect(await kubectl.ok('wait pod/slow --for=delete --timeout=120s')).toBe('');
    });

    test('for an unknown object', async () => {
      expect(await kubectl.fails('wait pod/nope --for=condition=Ready --timeout=1s')).toBe(
        'Error from server (NotFound): pods "nope" not found\n',
      );
    });
  });

  describe('delete', () => {
    test('by name, by label, all, and an unknown name', async () => {
      for (const name of ['a', 'b', 'c', 'd']) await kubectl.ok(`create cm ${name}`);
      await kubectl.ok('label cm b c team=x');
      expect(await kubectl.ok('delete cm a --dry-run=server')).toMatch(
        /^configmap "a" deleted.* \(server dry run\)\n$/,
      );
      expect(await kubectl.ok('delete cm a')).toMatch(/^configmap "a" deleted/);
      expect(await kubectl.fails('delete cm a')).toBe(
        'Error from server (NotFound): configmaps "a" not found\n',
      );
      expect(await kubectl.ok('delete cm a --ignore-not-found')).toBe('');
      expect((await kubectl.ok('delete cm -l team=x')).split('\n').length).toBe(3);
      expect(await kubectl.ok('get cm -o name')).toBe('configmap/d\n');
      await kubectl.ok('delete cm --all');
      expect(await kubectl.ok('get cm -o name')).toBe('');
    });

    test.each([
      ['background', false],
      ['foreground', false],
      ['orphan', true],
    ])('--cascade=%s', async (cascade, isKept) => {
      await kubectl.ok(`create deployment owner-${cascade} --image=busybox`);
      const uid = await kubectl.ok(`get deploy owner-${cascade} -o jsonpath={.metadata.uid}`);
      const ownerReferences = [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: `owner-${cascade}`,
          uid,
          blockOwnerDeletion: true,
        },
      ];
      await create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `owned-${cascade}`, ownerReferences },
      });
      await kubectl.ok(`delete deploy owner-${cascade} --cascade=${cascade}`);
      if (!isKept) await kubectl.ok(`wait cm/owned-${cascade} --for=delete --timeout=120s`);
      const left = await kubectl.ok(
        `get cm owned-${cascade} --ignore-not-found -o jsonpath={.metadata.name}:{.metadata.ownerReferences}`,
      );
      expect(left).toBe(isKept ? `owned-${cascade}:` : '');
    });

    test('a pod immediately, or when its node has ended it', async () => {
      await create(pod('bound', { nodeName: 'node-a' }));
      await kubectl.ok('delete pod bound --wait=false');
      expect(await kubectl.ok('get pods --no-headers')).toMatch(/^bound +0\/1 +Terminating /);
      const { status, stderr } = await kubectl.run('delete pod bound --grace-period=0 --force'.split(' '));
      expect([status, stderr]).toEqual([
        0,
        expect.stringContaining('Immediate deletion does not wait for confirmation'),
      ]);
      expect(await kubectl.ok('get pods')).toBe('');
    });

    test('a claim in use stays until its pod is gone', async () => {
      await create(
        pod('user', {
          volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
          nodeName: 'node-a',
        }),
      );
      expect(await kubectl.fails('delete pvc data --timeout=1s')).toContain(
        'timed out waiting for the condition on persistentvolumeclaims/data',
      );
      expect(await kubectl.ok('get pvc data --no-headers')).toMatch(/^data +Terminating /);
      const waiting = kubectl.ok('wait pvc/data --for=delete --timeout=120s');
      await kubectl.ok('delete pod user --grace-period=0 --force');
      await waiting;
      expect(await kubectl.ok('get pvc')).toBe('');
      expect(await kubectl.ok('delete pv pv-a --timeout=120s')).toBe('persistentvolume "pv-a" deleted\n');
    });

    test('a namespace with its content', async () => {
      await kubectl.ok('create ns team');
      await kubectl.ok('create cm a -n team');
      await kubectl.ok('create deployment d --image=busybox -n team');
      expect(await kubectl.ok('delete ns team --timeout=120s')).toBe('namespace "team" deleted\n');
      expect(await kubectl.fails('get ns team')).toBe(
        'Error from server (NotFound): namespaces "team" not found\n',
      );
      expect(await kubectl.ok('get cm,deploy -n team -o name')).toBe('');
      expect(await kubectl.fails('create cm a -n team')).toContain('namespaces "team" not found');
      expect(await kubectl.fails('delete ns default')).toContain(
        'namespaces "default" is forbidden: this namespace may not be deleted',
      );
    });
  });

  describe('of workloads, without their controllers', () => {
    beforeAll(async () => {
      await kubectl.ok('create -f', kubectl.file(statefulSet));
      await kubectl.ok('create deployment web --image=nginx:1 --replicas=2');
    });

    test('scale', async () => {
      expect(await kubectl.ok('scale sts store --replicas=1')).toBe('statefulset.apps/store scaled\n');
      expect(await kubectl.fails('scale sts store --replicas=5 --current-replicas=9')).toBe(
        'error: Expected replicas to be 9, was 1\n',
      );
      expect(await kubectl.ok('get sts store -o jsonpath={.spec.replicas}/{.metadata.generation}')).toBe(
        '1/2',
      );
      expect(await kubectl.ok('get deploy web --subresource=scale --no-headers')).toMatch(/^web +2 +0 /);
    });

    test('rollout', async () => {
      expect(await kubectl.ok('rollout history deploy web')).toMatch(
        /^deployment.apps\/web ?\nNo rollout history found\.\n/,
      );
      const { status, stdout, stderr } = await kubectl.run(
        'rollout status deploy web --timeout=5s'.split(' '),
      );
      expect([status, stdout]).toEqual([1, 'Waiting for deployment spec update to be observed...\n']);
      expect(stderr).toBe('error: timed out waiting for the condition\n');
      expect(await kubectl.ok('rollout pause deploy web')).toBe('deployment.apps/web paused\n');
      expect(await kubectl.ok('rollout resume deploy web')).toBe('deployment.apps/web resumed\n');
      expect(await kubectl.ok('rollout restart deploy web')).toBe('deployment.apps/web restarted\n');
      expect(await kubectl.ok('set image deploy/web nginx=nginx:2')).toBe(
        'deployment.apps/web image updated\n',
      );
      expect(
        await kubectl.ok(
          'get deploy web -o jsonpath={.spec.template.spec.containers[*].image}/{.metadata.generation}',
        ),
      ).toBe('nginx:2/5');
    });

    test('rollout status, after the status was updated', async () => {
      const status =
        '{"status":{"observedGeneration":5,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}';
      await kubectl.ok('patch deploy web --subresource=status --type=merge -p', status);
      expect(await kubectl.ok('rollout status deploy web --timeout=120s')).toBe(
        'deployment "web" successfully rolled out\n',
      );
    });
  });
});
