import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { csiMethods } from './csi-methods.ts';
import {
  CreateVolumeRequestSchema,
  file_csi,
  ListVolumesResponseSchema,
  NodePublishVolumeRequestSchema,
} from './generated/csi.ts';
import { accountTokensKey, messageText, withoutSecretsOf } from './message-text.ts';

const request = create(CreateVolumeRequestSchema, {
  name: 'pvc-1',
  capacityRange: { requiredBytes: 2n ** 62n },
  secrets: { password: 'hunter22', long: 'hunter22-and-more', short: 'a' },
  parameters: { type: 'fast' },
  volumeCapabilities: [{ accessType: { case: 'mount', value: { fsType: 'ext4' } }, accessMode: { mode: 1 } }],
});

test('a message is JSON with exact sizes and names of enums, without secrets', () => {
  expect(JSON.parse(messageText(CreateVolumeRequestSchema, request))).toEqual({
    name: 'pvc-1',
    capacity_range: { required_bytes: '4611686018427387904' },
    volume_capabilities: [{ mount: { fs_type: 'ext4' }, access_mode: { mode: 'SINGLE_NODE_WRITER' } }],
    parameters: { type: 'fast' },
    secrets: '***stripped***',
  });
});

test('no request has a secret in its text: the option of csi.proto decides, not a list of names', () => {
  const requests = Object.values(csiMethods).map(({ rpc }) => rpc.input);
  const withSecrets = requests.filter(({ field }) => 'secrets' in field);
  expect(withSecrets.length).toBeGreaterThan(8);
  for (const schema of withSecrets) {
    const message = create(schema as typeof CreateVolumeRequestSchema, { secrets: { key: 'hunter22' } });
    expect(messageText(schema as typeof CreateVolumeRequestSchema, message)).toBe(
      '{"secrets":"***stripped***"}',
    );
  }
  expect(file_csi.extensions.map(({ name }) => name)).toContain('csi_secret');
});

test('a text that quotes secrets loses them, the longest first', () => {
  const text = 'login a: hunter22-and-more and hunter22 are wrong';
  expect(withoutSecretsOf(CreateVolumeRequestSchema, request, text)).toBe(
    'login a: ***stripped*** and ***stripped*** are wrong',
  );
});

test('a huge message is cut', () => {
  const entries = Array.from({ length: 1000 }, (_, at) => ({ volume: { volumeId: `volume-${at}` } }));
  const text = messageText(ListVolumesResponseSchema, create(ListVolumesResponseSchema, { entries }));
  expect(text.length).toBeLessThan(5000);
  expect(text).toMatch(/\.\.\. \(\d+ characters\)$/);
});

test('tokens of service accounts are secrets, although they are in the volume context', () => {
  const tokens = '{"vault":{"token":"eyJhbGciOi","expirationTimestamp":null}}';
  const volumeContext = { [accountTokensKey]: tokens, pool: 'ssd' };
  const publish = create(NodePublishVolumeRequestSchema, { volumeId: 'v1', volumeContext });
  expect(JSON.parse(messageText(NodePublishVolumeRequestSchema, publish))).toEqual({
    volume_id: 'v1',
    volume_context: { [accountTokensKey]: '***stripped***', pool: 'ssd' },
  });
  const text = `bad token eyJhbGciOi in ${tokens}`;
  expect(withoutSecretsOf(NodePublishVolumeRequestSchema, publish, text)).toBe(
    'bad token ***stripped*** in ***stripped***',
  );
});
