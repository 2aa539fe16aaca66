import { describe, expect, test } from 'vitest';
import { describeWithKubectl } from './kubectl.ts';
import { tableOf } from './kubectl-output.ts';

describeWithKubectl('kubectl asks what there is', (kubectl) => {
  describe('api-resources', () => {
    test('with short names, groups and kinds', async () => {
      const [header, ...rows] = tableOf(await kubectl.ok('api-resources'));
      expect(header).toEqual(['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND']);
      expect(rows).toEqual(
        expect.arrayContaining([
          ['pods', 'po', 'v1', 'true', 'Pod'],
          ['persistentvolumeclaims', 'pvc', 'v1', 'true', 'PersistentVolumeClaim'],
          ['persistentvolumes', 'pv', 'v1', 'false', 'PersistentVolume'],
          ['statefulsets', 'sts', 'apps/v1', 'true', 'StatefulSet'],
          ['leases', '', 'coordination.k8s.io/v1', 'true', 'Lease'],
        ]),
      );
    });

    test('of one group', async () => {
      expect(await kubectl.ok('api-resources --api-group=storage.k8s.io --namespaced=false -o name')).toBe(
        ['csidrivers', 'csinodes', 'storageclasses', 'volumeattachments', 'volumeattributesclasses']
          .map((name) => `${name}.storage.k8s.io\n`)
          .join(''),
      );
    });

    test('with their verbs', async () => {
      const printed = await kubectl.ok('api-resources --api-group=apps -o wide --no-headers');
      expect(printed).toMatch(
        /^statefulsets +sts +apps\/v1 +true +StatefulSet +create,delete,deletecollection,get,list,patch,update,watch +all$/m,
      );
    });

    test('api-versions', async () => {
      const versions = (await kubectl.ok('api-versions')).trimEnd().split('\n');
      expect(versions).toEqual(expect.arrayContaining(['apps/v1', 'policy/v1', 'storage.k8s.io/v1', 'v1']));
    });
  });

  describe('explain', () => {
    test('fields of a kind', async () => {
      const printed = await kubectl.ok('explain sc');
      expect(printed).toMatch(/^GROUP: +storage\.k8s\.io\nKIND: +StorageClass\nVERSION: +v1\n/);
      for (const field of [
        'allowVolumeExpansion\t<boolean>',
        'parameters\t<map[string]string>',
        'provisioner\t<string> -required-',
      ]) {
        expect(printed).toContain(`\n  ${field}\n`);
      }
    });

    test('a nested field', async () => {
      const printed = await kubectl.ok('explain pod.spec.containers.resources');
      expect(printed).toMatch(/^KIND: +Pod\nVERSION: +v1\n\nFIELD: resources <ResourceRequirements>\n/);
      expect(printed).toContain('\n  limits\t<map[string]Quantity>\n');
    });

    test('everything below, with --recursive', async () => {
      const size = await kubectl.ok('explain pod.spec.volumes.csi.fsSize');
      expect(size).toMatch(/FIELD: fsSize <Quantity>\n/);
      const printed = await kubectl.ok('explain pvc.spec --recursive');
      expect(printed).toContain(`
  selector	<LabelSelector>
    matchExpressions	<[]LabelSelectorRequirement>
      key	<string> -required-
      operator	<string> -required-
      values	<[]string>
    matchLabels	<map[string]string>
  storageClassName	<string>
`);
    });

    test('an unknown field fails', async () => {
      expect(await kubectl.fails('explain pvc.nope')).toContain('field "nope" does not exist');
      expect(await kubectl.fails('explain nope')).toContain(
        'the server doesn\'t have a resource type "nope"',
      );
    });
  });

  describe('auth', () => {
    test('can-i', async () => {
      expect(await kubectl.ok('auth can-i create pods')).toBe('yes\n');
      expect(await kubectl.ok('auth can-i delete nodes')).toBe('yes\n');
      expect(tableOf(await kubectl.ok('auth can-i --list')).slice(0, 2)).toEqual([
        ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'],
        ['*.*', '[]', '[]', '[*]'],
      ]);
    });

    test('whoami', async () => {
      expect(tableOf(await kubectl.ok('auth whoami'))).toEqual([
        ['ATTRIBUTE', 'VALUE'],
        ['Username', 'stowage-admin'],
        ['Groups', '[system:masters system:authenticated]'],
      ]);
    });

    test('with a wrong token', async () => {
      expect(await kubectl.fails('get pods --token=wrong')).toBe(
        'error: You must be logged in to the server (Unauthorized)\n',
      );
    });

    test('impersonation without rights is rejected, not ignored', async () => {
      expect(await kubectl.fails('get pods --as=someone')).toContain('Error from server (Forbidden)');
    });
  });

  test('version', async () => {
    expect(await kubectl.ok('version')).toMatch(/\nServer Version: v1\.36\.3\+stowage\n/);
    expect(JSON.parse(await kubectl.ok('version -o json')).serverVersion).toMatchObject({
      major: '1',
      minor: '36',
    });
  });

  test('cluster-info', async () => {
    // kubectl adds colours.
    expect(await kubectl.ok('cluster-info')).toContain(kubectl.stowage.access.url);
  });

  test('config', async () => {
    expect(await kubectl.ok('config current-context')).toBe('stowage\n');
    const { clusters, users } = JSON.parse(await kubectl.ok('config view -o json'));
    expect(clusters[0].cluster.server).toBe(kubectl.stowage.access.url);
    expect(users[0].user.token).toBe('REDACTED');
    await kubectl.ok('config set-context --current --namespace=kube-system');
    const { stderr } = await kubectl.run(['get', 'pods']);
    expect(stderr).toBe('No resources found in kube-system namespace.\n');
  });

  test.each([
    ['top pods', 'pods of this cluster are simulated: there are no containers to measure'],
    ['top nodes', 'nodes of this cluster are simulated: there is no kubelet that measures'],
    ['rollout status sts/nope', 'Error from server (NotFound): statefulsets.apps "nope" not found\n'],
    ['logs nope', 'pods "nope" not found'],
    ['exec nope -- true', 'pods "nope" not found'],
  ])('what cannot be answered is reported: %s', async (line, complaint) => {
    expect(await kubectl.fails(line)).toContain(complaint);
  });
});
