import fc from 'fast-check';
import type { PersistentVolumeAccessMode, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { LabelSelector } from '../../../kube/api/meta.ts';
import { annotations } from '../../../kube/well-known.ts';
import { sometimes, withoutUndefined } from './chance.ts';
import { type Distribution, mixed } from './distribution.ts';
import { nodeNames, volumeNames } from './names.ts';
import { accessModes } from './volumes.ts';

export function arbClaim(
  name: string,
  distribution: Distribution = mixed,
): fc.Arbitrary<PersistentVolumeClaim> {
  return fc
    .record({
      size: sometimes(96, distribution.sizes),
      className: distribution.classes,
      defect: sometimes(
        distribution.invalidClaims,
        fc.constantFrom(
          'lost',
          'deleting',
          'prebound',
          'immediate',
          'no class',
          'malformed',
          'negative',
          'bad selector',
        ),
      ),
      volumeName: sometimes(distribution.boundClaims, fc.constantFrom(...volumeNames, 'gone')),
      selectedNode: sometimes(
        distribution.pinnedClaims,
        fc.constantFrom(...nodeNames, ...nodeNames, ...nodeNames, ''),
      ),
      pool: sometimes(5, fc.constantFrom('p2', 'storage/cap2')),
      selector: sometimes(
        12,
        fc.constantFrom<LabelSelector>(
          { matchLabels: { app: 'x' } },
          {},
          {
            matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }],
          },
        ),
      ),
      mode: sometimes(5, fc.constantFrom('Block' as const, 'Filesystem' as const)),
      accessModes,
      attributesClass: sometimes(4, fc.constantFrom('gold', '')),
    })
    .map((random) => claimOf(name, random));
}

interface RandomClaim {
  readonly size: string | undefined;
  readonly className: string;
  readonly defect: string | undefined;
  readonly volumeName: string | undefined;
  readonly selectedNode: string | undefined;
  readonly pool: string | undefined;
  readonly selector: LabelSelector | undefined;
  readonly mode: 'Block' | 'Filesystem' | undefined;
  readonly accessModes: readonly PersistentVolumeAccessMode[];
  readonly attributesClass: string | undefined;
}

const defectSizes: Readonly<Record<string, string>> = { malformed: 'lots', negative: '-1Gi' };
const defectClasses: Readonly<Record<string, string>> = { immediate: 'imm', 'no class': '' };

function claimOf(name: string, random: RandomClaim): PersistentVolumeClaim {
  const defect = random.defect ?? '';
  const size = defectSizes[defect] ?? random.size;
  const volumeName = defect === 'prebound' || defect === 'lost' ? 'v1' : random.volumeName;
  const isBound = volumeName !== undefined && defect !== 'prebound';
  return {
    metadata: withoutUndefined({
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      annotations: withoutUndefined({
        [annotations.selectedNode]: random.selectedNode,
        [annotations.bindCompleted]: isBound ? 'yes' : undefined,
        [annotations.pool]: random.pool,
      }),
      deletionTimestamp: defect === 'deleting' ? '2026-01-01T00:00:00Z' : undefined,
    }),
    spec: withoutUndefined({
      accessModes: random.accessModes,
      storageClassName: defectClasses[defect] ?? random.className,
      resources: size === undefined ? undefined : { requests: { storage: size } },
      volumeName,
      selector:
        defect === 'bad selector'
          ? { matchExpressions: [{ key: 'app', operator: 'In' as const, values: [] }] }
          : random.selector,
      volumeMode: random.mode,
      volumeAttributesClassName: random.attributesClass,
    }),
    status: { phase: defect === 'lost' ? 'Lost' : isBound ? 'Bound' : 'Pending' },
  };
}
