import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsiCallError } from '../../csi/csi-errors.ts';
import type { CsiMethodName } from '../../csi/csi-methods.ts';
import { callOptions, DrivesFixture, mountOnce, volumeOf } from '../testing/drives-fixture.ts';

const mode = (number: number) => ({ ...mountOnce, accessMode: { mode: number } });
const mount = (value: object) => ({ ...mountOnce, accessType: { case: 'mount', value } });
const create = (more: object) => ({ ...volumeOf('new', 1), ...more });

const bad: readonly (readonly [CsiMethodName, object, string, RegExp])[] = [
  ['CreateVolume', create({ name: '' }), 'InvalidArgument', /name: is required/],
  ['CreateVolume', create({ name: 'x'.repeat(129) }), 'InvalidArgument', /name: has 129 bytes/],
  ['CreateVolume', create({ name: '../etc' }), 'InvalidArgument', /must contain neither \/ nor control/],
  ['CreateVolume', create({ name: '..' }), 'InvalidArgument', /neither/],
  ['CreateVolume', create({ name: 'a\u0000b' }), 'InvalidArgument', /neither/],
  ['CreateVolume', create({ volumeCapabilities: [] }), 'InvalidArgument', /volume_capabilities: is required/],
  [
    'CreateVolume',
    create({ volumeCapabilities: [{ accessMode: { mode: 1 } }] }),
    'InvalidArgument',
    /access_type/,
  ],
  [
    'CreateVolume',
    create({ volumeCapabilities: [mode(5)] }),
    'InvalidArgument',
    /MULTI_NODE_MULTI_WRITER is not supported/,
  ],
  [
    'CreateVolume',
    create({ volumeCapabilities: [mountOnce, mode(3)] }),
    'InvalidArgument',
    /MULTI_NODE_READER_ONLY/,
  ],
  ['CreateVolume', create({ volumeCapabilities: [mode(99)] }), 'InvalidArgument', /access mode 99/],
  [
    'CreateVolume',
    create({ volumeCapabilities: [mount({ fsType: 'ext4' })] }),
    'InvalidArgument',
    /xfs, not "ext4"/,
  ],
  [
    'CreateVolume',
    create({ volumeCapabilities: [{ accessType: { case: 'block', value: {} }, accessMode: { mode: 1 } }] }),
    'InvalidArgument',
    /not block devices; use volumeMode Filesystem/,
  ],
  [
    'CreateVolume',
    create({ capacityRange: { requiredBytes: -1n } }),
    'InvalidArgument',
    /must not be negative/,
  ],
  [
    'CreateVolume',
    create({ capacityRange: { requiredBytes: 2n, limitBytes: 1n } }),
    'InvalidArgument',
    /below required_bytes/,
  ],
  ['CreateVolume', create({ capacityRange: {} }), 'InvalidArgument', /must be set/],
  [
    'CreateVolume',
    create({ capacityRange: { requiredBytes: 2n ** 60n } }),
    'OutOfRange',
    /a volume has at most/,
  ],
  [
    'CreateVolume',
    create({ capacityRange: { requiredBytes: 2n ** 40n } }),
    'ResourceExhausted',
    /drive d: 9 free/,
  ],
  ['CreateVolume', create({ parameters: { accessTier: 'Fast' } }), 'InvalidArgument', /accessTier/],
  ['CreateVolume', create({ parameters: { typo: '1' } }), 'InvalidArgument', /typo is unknown/],
  [
    'CreateVolume',
    create({ parameters: { 'csi.storage.k8s.io/pvc/namespace': 'n'.repeat(64) } }),
    'InvalidArgument',
    /more than 63 characters/,
  ],
  ['CreateVolume', create({ mutableParameters: { a: 'b' } }), 'InvalidArgument', /no mutable parameters/],
  [
    'CreateVolume',
    create({ volumeContentSource: { type: { case: 'volume', value: { volumeId: 'old' } } } }),
    'InvalidArgument',
    /cannot be copied/,
  ],
  [
    'CreateVolume',
    { ...volumeOf('old', 2) },
    'AlreadyExists',
    /exists on drive d with 1 bytes, and 2 bytes were asked/,
  ],
  ['CreateVolume', create({ parameters: { accessTier: 'Hot' } }), 'ResourceExhausted', /of access tier Hot/],
  ['DeleteVolume', { volumeId: '' }, 'InvalidArgument', /volume_id: is required/],
  ['ControllerExpandVolume', { volumeId: 'old' }, 'InvalidArgument', /capacity_range: is required/],
  [
    'ControllerExpandVolume',
    { volumeId: 'none', capacityRange: { requiredBytes: 1n } },
    'NotFound',
    /no volume none/,
  ],
  [
    'ControllerExpandVolume',
    { volumeId: 'old', capacityRange: { requiredBytes: 2n }, volumeCapability: mode(5) },
    'InvalidArgument',
    /MULTI_NODE/,
  ],
  [
    'ControllerExpandVolume',
    { volumeId: 'old', capacityRange: { requiredBytes: 99n } },
    'OutOfRange',
    /needs 98 more/,
  ],
  ['ValidateVolumeCapabilities', { volumeId: 'none', volumeCapabilities: [mountOnce] }, 'NotFound', /none/],
  ['ValidateVolumeCapabilities', { volumeId: 'old' }, 'InvalidArgument', /volume_capabilities/],
  ['ListVolumes', { maxEntries: -1 }, 'InvalidArgument', /max_entries/],
  ['ListVolumes', { startingToken: 'x' }, 'Aborted', /starting_token/],
  ['GetCapacity', { parameters: { spreadBy: 'x' } }, 'InvalidArgument', /spreadBy/],
  [
    'ControllerPublishVolume',
    { volumeId: 'old', nodeId: 'n', volumeCapability: mountOnce },
    'Unimplemented',
    /not served/,
  ],
];

test('bad requests get the code that CSI names, and one sentence', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('d', 10);
  const { driver } = await fixture.controller();
  await driver.call('CreateVolume', volumeOf('old', 1), callOptions);
  for (const [method, request, code, sentence] of bad) {
    const error = await driver.call(method, request as never, callOptions).catch((caught: unknown) => caught);
    expect(error, `${method} ${String(sentence)}`).toBeInstanceOf(CsiCallError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(sentence) });
  }
  expect((await fixture.placements()).size).toBe(1);
});

/** The codes that CSI permits for a request that may be wrong in any way. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  CreateVolume: ['InvalidArgument', 'AlreadyExists', 'ResourceExhausted', 'OutOfRange'],
  DeleteVolume: ['InvalidArgument'],
  ControllerExpandVolume: ['InvalidArgument', 'NotFound', 'OutOfRange'],
  ListVolumes: ['InvalidArgument', 'Aborted'],
  GetCapacity: ['InvalidArgument'],
};

const text = fc.oneof(
  fc.string({ maxLength: 140 }),
  fc.constantFrom('v1', 'v2', '', '__proto__', 'constructor', '..'),
);
const map = fc.dictionary(
  fc.oneof(
    text,
    fc.constantFrom(
      'accessTier',
      'driveLabels',
      'spreadBy',
      'stowage.dev/drive',
      'csi.storage.k8s.io/pvc/name',
    ),
  ),
  fc.oneof(text, fc.constantFrom('Hot', 'a=b', 'claim-owner', 'd')),
  { maxKeys: 3 },
);
const bytes = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 0n, max: 12n }),
);
const range = fc.record({ requiredBytes: bytes, limitBytes: bytes }, { requiredKeys: [] });
const capability = fc.oneof(
  fc.constant(mountOnce),
  fc.integer({ min: 0, max: 9 }).map(mode),
  text.map((fsType) => mount({ fsType })),
  fc.constant({}),
);
const topology = fc.record({ segments: map });
const requests = fc.oneof(
  fc.tuple(
    fc.constant('CreateVolume' as const),
    fc.record(
      {
        name: text,
        volumeCapabilities: fc.array(capability, { maxLength: 2 }),
        capacityRange: range,
        parameters: map,
        accessibilityRequirements: fc.record({
          requisite: fc.array(topology, { maxLength: 2 }),
          preferred: fc.array(topology, { maxLength: 2 }),
        }),
      },
      { requiredKeys: [] },
    ),
  ),
  fc.tuple(fc.constant('DeleteVolume' as const), fc.record({ volumeId: text })),
  fc.tuple(
    fc.constant('ControllerExpandVolume' as const),
    fc.record({ volumeId: text, capacityRange: range }, { requiredKeys: [] }),
  ),
  fc.tuple(
    fc.constant('ListVolumes' as const),
    fc.record({ maxEntries: fc.integer({ min: -3, max: 3 }), startingToken: text }),
  ),
  fc.tuple(fc.constant('GetCapacity' as const), fc.record({ parameters: map, accessibleTopology: topology })),
);

test('fuzzed requests get a code that CSI names for the call, and never break the ledger', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('d', 10);
  await fixture.drive('e', 8, { node: 'n2', spec: { accessTier: 'Hot' } });
  const { driver } = await fixture.controller();
  await fc.assert(
    fc.asyncProperty(requests, async ([method, request]) => {
      try {
        await driver.call(method, request as never, callOptions);
      } catch (error) {
        expect(error).toBeInstanceOf(CsiCallError);
        expect(allowed[method]).toContain((error as CsiCallError).code);
      }
    }),
    { numRuns: 400 },
  );
  for (const drives of (await fixture.placements()).values()) expect(drives).toHaveLength(1);
  fixture.expectNoOverdraft();
});
