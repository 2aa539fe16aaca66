import { expect, test } from 'vitest';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { type Drive, type DriveVolume, drivesDriver } from '../../kube/stowage/drive.ts';
import { auditLedgers, ledgerFindingText, orphanedDirectories } from './ledger-audit.ts';

const drive = (name: string, ...volumes: readonly DriveVolume[]): Drive => ({
  metadata: { name },
  spec: { volumes },
});
const entry = (name: string, more: Partial<DriveVolume> = {}): DriveVolume => ({
  name,
  sizeBytes: 2 ** 30,
  ...more,
});
const volume = (name: string, on?: string, more: PersistentVolume['metadata'] = {}): PersistentVolume => ({
  metadata: { name, ...more },
  spec: {
    csi: {
      driver: drivesDriver,
      volumeHandle: name,
      ...(on !== undefined && { volumeAttributes: { 'stowage.dev/drive': on } }),
    },
  },
});
const data = { namespace: 'default', name: 'data', uid: 'u1' };

interface Case {
  readonly drives?: readonly Drive[];
  readonly volumes?: readonly PersistentVolume[];
  /** Claims and pods by `namespace/name`, with their uids. */
  readonly objects?: Readonly<Record<string, string>>;
}

function findings({ drives = [], volumes = [], objects = {} }: Case): readonly string[] {
  const named = (key: string) =>
    objects[key] === undefined ? undefined : { metadata: { uid: objects[key] } };
  return auditLedgers({ drives, volumes, claimNamed: named, podNamed: named }).map(
    (finding) => `${finding.kind} on ${finding.drive}: ${ledgerFindingText(finding)}`,
  );
}

test.each<[string, Case, readonly string[]]>([
  [
    'an entry with its PersistentVolume',
    { drives: [drive('d', entry('v'))], volumes: [volume('v', 'd')] },
    [],
  ],
  ['a PersistentVolume without attributes', { drives: [drive('d', entry('v'))], volumes: [volume('v')] }, []],
  [
    'an entry that is being provisioned',
    { drives: [drive('d', entry('v', { claimRef: data }))], objects: { 'default/data': 'u1' } },
    [],
  ],
  [
    'an entry whose claim was replaced',
    { drives: [drive('d', entry('v', { claimRef: data }))], objects: { 'default/data': 'u2' } },
    ['leak on d: volume v takes 1Gi, and has no PersistentVolume; claim default/data is gone'],
  ],
  [
    'an entry without claim',
    { drives: [drive('d', entry('v'))] },
    ['leak on d: volume v takes 1Gi, and has neither a PersistentVolume nor a known claim'],
  ],
  ['an entry that its node is to remove', { drives: [drive('d', entry('v', { state: 'Releasing' }))] }, []],
  [
    'an inline volume of a pod',
    { drives: [drive('d', entry('v', { podRef: data }))], objects: { 'default/data': 'u1' } },
    [],
  ],
  [
    'an inline volume of a pod that is gone',
    { drives: [drive('d', entry('v', { podRef: data }))] },
    ['leak on d: volume v takes 1Gi, and pod default/data is gone'],
  ],
  [
    'a volume that was moved to another drive',
    { drives: [drive('d'), drive('e', entry('v'))], volumes: [volume('v', 'd')] },
    [],
  ],
  [
    'a volume that was moved, from a drive that was removed since',
    { drives: [drive('e', entry('v'))], volumes: [volume('v', 'd')] },
    [],
  ],
  [
    'a second move that was interrupted',
    { drives: [drive('e', entry('v')), drive('f', entry('v'))], volumes: [volume('v', 'd')] },
    [
      'leak on e: volume v takes 1Gi here and on drive f, and needs one of them; if a move was interrupted, call stowage drives move --volume v again',
      'leak on f: volume v takes 1Gi here and on drive e, and needs one of them; if a move was interrupted, call stowage drives move --volume v again',
    ],
  ],
  [
    'a second entry of one name',
    { drives: [drive('d', entry('v')), drive('e', entry('v'))], volumes: [volume('v', 'e')] },
    ['leak on d: volume v takes 1Gi here, and its PersistentVolume is on drive e'],
  ],
  [
    'a PersistentVolume without entry',
    { drives: [drive('d')], volumes: [volume('v', 'd')] },
    ['missing on d: volume v has the PersistentVolume v and no entry in the ledger'],
  ],
  [
    'a PersistentVolume that is being deleted',
    { volumes: [volume('v', 'd', { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
    [],
  ],
  [
    'a volume of another driver',
    { volumes: [{ spec: { csi: { driver: 'csi.example.com', volumeHandle: 'v' } } }] },
    [],
  ],
])('%s', (_, given, expected) => {
  expect(findings(given)).toEqual(expected);
});

test('directories without an entry are stray', () => {
  expect(orphanedDirectories(drive('d', entry('v')), ['v', 'w'])).toMatchObject([
    { kind: 'stray', drive: 'd', volume: 'w' },
  ]);
});
