import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CsiMethodName } from '../../csi/csi-methods.ts';
import { callOptions } from '../testing/drives-fixture.ts';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;
const methods: readonly CsiMethodName[] = [
  'NodeStageVolume',
  'NodeUnstageVolume',
  'NodePublishVolume',
  'NodeUnpublishVolume',
  'NodeExpandVolume',
  'NodeGetVolumeStats',
];

/** The codes that CSI names for wrong requests. Internal would mean that one got past the checks. */
const codes = new Set([
  'OK',
  'InvalidArgument',
  'NotFound',
  'FailedPrecondition',
  'OutOfRange',
  'AlreadyExists',
  'ResourceExhausted',
]);

function requests(node: NodeFixture) {
  const names = fc.constantFrom('pvc-1', 'pvc-2', 'csi-1', '..', '.', '', 'a/b', '-o', 'x'.repeat(300));
  const wild = fc.string({ unit: 'binary', maxLength: 40 });
  const known = ['stage', 'pod', 'link', 'file', 'link/x', 'missing/x', '../drives/x'].map((name) =>
    node.path(name),
  );
  const path = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...known) },
    fc.constantFrom('/', '', 'relative', '/proc/self/root', node.drivesRoot),
    wild,
  );
  const mount = fc.record({
    fsType: fc.constantFrom('', 'xfs', 'ext4'),
    mountFlags: fc.subarray(['ro', 'noexec', 'bind', 'x=/etc']),
  });
  const accessType = fc.oneof(
    { weight: 4, arbitrary: mount.map((value) => ({ case: 'mount' as const, value })) },
    fc.constant({ case: 'block' as const, value: {} }),
  );
  const context = fc.dictionary(
    fc.constantFrom(
      'csi.storage.k8s.io/ephemeral',
      'size',
      'stowage.dev/drive',
      'csi.storage.k8s.io/pod.name',
    ),
    fc.oneof(fc.constantFrom('true', '1Mi', 'n1-a', '-1'), wild),
  );
  return fc.record({
    volumeId: fc.oneof({ weight: 4, arbitrary: names }, wild),
    stagingTargetPath: path,
    targetPath: path,
    volumePath: path,
    volumeContext: context,
    volumeCapability: fc.record({
      accessType,
      accessMode: fc.record({ mode: fc.integer({ min: 0, max: 8 }) }),
    }),
    readonly: fc.boolean(),
    capacityRange: fc.record({ requiredBytes: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }) }),
  });
}

test('any request is answered with a code of CSI, and mounts nothing but volumes at paths of the kubelet', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  await node.addVolume('pvc-2', mib);
  mkdirSync(node.path('stage'));
  writeFileSync(node.path('file'), '');
  symlinkSync('/etc', node.path('link'));
  node.host.addMount({ path: '/proc/self/root' });
  const call = fc.tuple(fc.constantFrom(...methods), requests(node));
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
      for (const [method, request] of calls) {
        const code = await node.driver.call(method, request as never, callOptions).then(
          () => 'OK',
          (error: { readonly code?: string; readonly message: string }) => error.code ?? error.message,
        );
        expect(codes, `${method}: ${code}`).toContain(code);
      }
      for (const { path, type } of (await node.host.mounts()).mounts)
        if (type === 'xfs')
          expect(path.startsWith(node.kubelet) || path.startsWith(node.drivesRoot)).toBe(true);
      expect((await node.host.mounts()).at('/proc/self/root')).toBeDefined();
    }),
    { numRuns: 25 },
  );
  node.fixture.expectNoOverdraft();
});
