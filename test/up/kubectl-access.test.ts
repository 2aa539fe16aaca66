import { beforeAll, describe, expect, test } from 'vitest';
import { describeWithKubectl } from './kubectl.ts';

describeWithKubectl('kubectl and access control', (kubectl) => {
  beforeAll(async () => {
    await kubectl.ok('create serviceaccount robot');
    await kubectl.ok('create role reader --verb=get,list --resource=pods --resource=deployments.apps/scale');
    await kubectl.ok('create rolebinding reader --role=reader --serviceaccount=default:robot --user=ann');
    await kubectl.ok('create clusterrolebinding staff --clusterrole=view --group=staff');
  });

  test('prints the identity of the user', async () => {
    expect(await kubectl.ok('auth whoami')).toMatch(/^Username +stowage-admin$/m);
    expect(await kubectl.ok('auth whoami --as=ann --as-group=staff')).toMatch(
      /^Groups +\[staff system:authenticated\]$/m,
    );
  });

  describe('prints the rights of the user', () => {
    test.each([
      ['list pods --as=ann', 'yes\n'],
      ['list pods --as=ann -A', 'no\n'],
      ['delete pods --as=ann', 'no\n'],
      ['get deployments.apps --subresource=scale --as=system:serviceaccount:default:robot', 'yes\n'],
      ['get deployments.apps --as=system:serviceaccount:default:robot', 'no\n'],
      ['list services --as=eve --as-group=staff -A', 'yes\n'],
      ['list secrets --as=eve --as-group=staff', 'no\n'],
      ['get /version --as=ann', 'yes\n'],
      ['get /metrics --as=ann', 'no\n'],
    ])('can-i %s: %s', async (line, answer) => {
      const { stdout } = await kubectl.run(['auth', 'can-i', ...line.split(' ')]);
      expect(stdout).toBe(answer);
    });

    test('as a list', async () => {
      const list = await kubectl.ok('auth can-i --list --as=ann');
      expect(list).toMatch(/^pods +\[\] +\[\] +\[get list\]$/m);
      expect(list).toMatch(/^deployments.apps\/scale +\[\] +\[\] +\[get list\]$/m);
    });
  });

  test('creates tokens with the rights of their account', async () => {
    const token = (await kubectl.ok('create token robot --duration=15m')).trim();
    const withToken = ['--token', token, '--kubeconfig', kubectl.file(withoutUser(kubectl))];
    const who = await kubectl.run(['auth', 'whoami', ...withToken]);
    expect(who.stdout).toMatch(/^Username +system:serviceaccount:default:robot$/m);
    const refused = await kubectl.run(['get', 'nodes', ...withToken]);
    expect(refused.stderr).toBe(
      'Error from server (Forbidden): nodes is forbidden: User "system:serviceaccount:default:robot" cannot list resource "nodes" in API group "" at the cluster scope\n',
    );
    expect(await kubectl.fails('create token absent')).toBe(
      'error: failed to create token: serviceaccounts "absent" not found\n',
    );
  });

  test('reconciles roles and bindings', async () => {
    const policy = kubectl.file(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: default }
rules: [{ apiGroups: [""], resources: [pods], verbs: [watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: reader, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader }
subjects: [{ kind: User, name: eve, apiGroup: rbac.authorization.k8s.io }]
`);
    expect(await kubectl.ok(`auth reconcile -f ${policy}`)).toBe(
      'role.rbac.authorization.k8s.io/reader reconciled\nrolebinding.rbac.authorization.k8s.io/reader reconciled\n',
    );
    expect(await kubectl.ok('auth can-i watch pods --as=eve')).toBe('yes\n');
    expect(await kubectl.ok('auth can-i get pods --as=ann')).toBe('yes\n');
  });

  test('shows bindings with their subjects', async () => {
    const [head = '', row = ''] = (await kubectl.ok('get clusterrolebinding staff -o wide')).split('\n');
    expect(head.split(/ {2,}/)).toEqual(
      ['NAME', 'ROLE', 'AGE', 'USERS', 'GROUPS', 'SERVICEACCOUNTS'].slice(0, 6),
    );
    expect(row).toMatch(/^staff +ClusterRole\/view +\S+ +staff *$/);
  });
});

/** Only the certificate and the address, without a user. */
function withoutUser({
  stowage,
}: {
  stowage: { access: { url: string; certificateAuthority: string } };
}): object {
  const { url, certificateAuthority } = stowage.access;
  const cluster = {
    server: url,
    'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64'),
  };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: '' } }],
    'current-context': 'a',
  };
}
