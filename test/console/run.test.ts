import { describe, expect, test } from 'vitest';
import { namespaces, nodes, persistentVolumeClaims, pods } from '../../src/kube/resources.ts';
import {
  accessModes,
  main,
  makeClass,
  makeDisk,
  makeNode,
  untilAllowed,
} from '../kubernetes/testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from '../kubernetes/vitest-beds.ts';
import { type Browser, hasBrowser, openBrowser, showView } from './browser.ts';
import { startConsole } from './stowage-program.ts';

const rights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: shop }
rules:
  - { apiGroups: [""], resources: [pods, persistentvolumeclaims, events], verbs: [get, list] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: reader, namespace: shop }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader }
subjects: [{ kind: ServiceAccount, name: of-a-team, namespace: shop }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: volumes }
rules: [{ apiGroups: [""], resources: [nodes, persistentvolumes], verbs: [list] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: volumes }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: volumes }
subjects: [{ kind: ServiceAccount, name: of-a-team, namespace: shop }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: all-of-it }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin }
subjects: [{ kind: ServiceAccount, name: boss, namespace: shop }]
`;

async function signIn({ page }: Browser, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Live', { exact: true }).waitFor();
}

/** All data of the page's server that the browser can get. */
async function everything({ page }: Browser): Promise<string> {
  const paths = [
    'state',
    'queue',
    'reservations',
    'history',
    'record',
    'snapshot',
    'pod?id=secret/hidden',
    'plan?drain=node/node-1',
  ];
  const texts = await page.evaluate(
    `Promise.all(${JSON.stringify(paths)}.map((path) => fetch('/console/data/' + path).then((answer) => answer.text())))`,
  );
  return (texts as string[]).join('\n');
}

/** Collects everything that the stream of changes sends from now on. */
const readStream = `(async () => {
  window.received = '';
  const state = await (await fetch('/console/data/state')).text();
  const { position } = JSON.parse(state.split('\\n')[0]);
  const { body } = await fetch('/console/data/events?since=' + position);
  (async () => {
    const decoder = new TextDecoder();
    for (const reader = body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      window.received += decoder.decode(value);
    }
  })();
})()`;

/** Pods that wait: no node has room. */
const unscheduled = {
  schedulerName: 'stowage',
  containers: [{ ...main, resources: { requests: { cpu: '1000' } } }],
};

describe.skipIf(lacks(...serverPrograms) || !hasBrowser)(
  'the console of run --console on kube-apiserver',
  () => {
    test('shows each viewer what the RBAC of their own token allows', async () => {
      const bed = await startTestBed({ apiServer: { extraFlags: { 'authorization-mode': 'RBAC' } } });
      const cluster = await bed.connect();
      for (const name of ['shop', 'secret'])
        await cluster.resource(namespaces).create({ metadata: { name } });
      await makeNode(cluster, 'node-1');
      await makeClass(cluster, 'local');
      await makeDisk(cluster, 'disk-1', { node: 'node-1', storageClassName: 'local' });
      for (const [namespace, name] of [
        ['shop', 'visible'],
        ['secret', 'hidden'],
      ] as const) {
        await cluster.resource(persistentVolumeClaims).create({
          metadata: { namespace, name },
          spec: { accessModes, storageClassName: 'local', resources: { requests: { storage: '900Ti' } } },
        });
        await cluster.resource(pods).create({
          metadata: { namespace, name },
          spec: {
            schedulerName: 'stowage',
            containers: [main],
            volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
          },
        });
      }
      for (const name of ['of-a-team', 'boss'])
        await bed.kubectl(['create', 'serviceaccount', name, '-n', 'shop']);
      const applied = await bed.kubectl(['apply', '-f', '-'], rights);
      expect([applied.code, applied.stderr]).toEqual([0, '']);
      const team = 'system:serviceaccount:shop:of-a-team';
      await untilAllowed(bed, team, 'list', 'pods', '-n', 'shop');
      await untilAllowed(bed, team, 'list', 'nodes');
      await untilAllowed(bed, 'system:serviceaccount:shop:boss', 'patch', 'nodes');
      const tokenOf = async (name: string) =>
        (await bed.kubectl(['create', 'token', name, '-n', 'shop'])).stdout.trim();

      await using program = await startConsole(
        ...[
          'run',
          '--kubeconfig',
          bed.kubeconfig,
          '--console',
          '--console-address',
          '127.0.0.1:0',
          '--console-write',
        ],
      );
      await using browser = await openBrowser();
      await signIn(browser, program.consoleUrl, await tokenOf('of-a-team'));
      const { page } = browser;
      await page.getByText('You may list pods only in namespace shop').waitFor();
      await showView(page, '#/queue');
      await page.getByText('1 pod is pending in namespace shop').waitFor();
      await showView(page, '#/pod/shop%2Fvisible');
      await page.getByText('Pod shop/visible').first().waitFor();
      const seen = await everything(browser);
      expect(seen).toContain('shop/visible');
      expect(seen).toContain('node-1');
      expect(seen).not.toMatch(/secret\/hidden(?!, or you may not)/);
      // The stream of changes has nothing of other namespaces either.
      await page.evaluate(readStream);
      await cluster
        .resource(pods)
        .create({ metadata: { namespace: 'secret', name: 'later' }, spec: unscheduled });
      await cluster
        .resource(pods)
        .create({ metadata: { namespace: 'shop', name: 'later' }, spec: unscheduled });
      const received = async () => String(await page.evaluate('window.received'));
      await expect.poll(received).toContain('shop/later');
      expect(await received()).not.toContain('secret/');
      // Changes are carried out with the viewer's rights, too.
      const cordon = JSON.stringify({ kind: 'cordon', what: 'node', name: 'node-1', isOn: true });
      const act = async () =>
        await page.evaluate(
          `fetch('/console/data/act', { method: 'POST', body: ${JSON.stringify(cordon)} }).then((answer) => answer.status)`,
        );
      expect(await act()).toBe(403);

      await page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(browser, program.consoleUrl, await tokenOf('boss'));
      await showView(page, '#/queue');
      await page.getByText('4 pods are pending').waitFor();
      expect(await everything(browser)).toContain('secret/hidden');
      expect(await act()).toBe(200);
      expect((await cluster.resource(nodes).get({ name: 'node-1' })).spec?.unschedulable).toBe(true);
      await showView(page, '#/map');
      await page.getByRole('button', { name: 'Table' }).click();
      await page.getByRole('gridcell', { name: 'not ready, cordoned' }).waitFor();
    });
  },
);
