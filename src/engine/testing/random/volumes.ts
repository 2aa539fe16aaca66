import fc from 'fast-check';
import type {
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeAccessMode,
} from '../../../kube/api/core.ts';
import { annotations, labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { sometimes, withoutUndefined } from './chance.ts';
import { type Distribution, mixed } from './distribution.ts';
import { claimNames, drivers } from './names.ts';
import { nodeSelectors } from './selectors.ts';

export const accessModes: fc.Arbitrary<PersistentVolumeAccessMode[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<PersistentVolumeAccessMode[]>(['ReadWriteOnce']) },
  {
    weight: 2,
    arbitrary: fc.uniqueArray(
      fc.constantFrom<PersistentVolumeAccessMode>(
        'ReadWriteOnce',
        'ReadOnlyMany',
        'ReadWriteMany',
        'ReadWriteOncePod',
      ),
      { maxLength: 3 },
    ),
  },
);

const claimRefs = fc.record({
  namespace: fc.constant('default'),
  name: fc.constantFrom(...claimNames, 'elsewhere'),
  uid: fc.constantFrom('right', 'wrong', ''),
});

const volumeSources: fc.Arbitrary<Partial<NonNullable<PersistentVolume['spec']>>> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.record({
      csi: fc.record({
        driver: fc.constantFrom(...drivers),
        volumeHandle: fc.constantFrom('h1', 'h2', 'h3', 'h4', 'h5', 'h6'),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      awsElasticBlockStore: fc.record({ volumeID: fc.constantFrom('vol-1', 'vol-2') }),
    }),
  },
);

const preferences = fc.constantFrom(
  JSON.stringify([
    {
      weight: 10,
      preference: { matchExpressions: [{ key: wellKnownLabels.zone, operator: 'In', values: ['b'] }] },
    },
  ]),
  'nonsense',
);

export function arbVolume(name: string, distribution: Distribution = mixed): fc.Arbitrary<PersistentVolume> {
  const odd = distribution.oddVolumes;
  return fc
    .record({
      size: sometimes(
        98,
        fc.oneof({ weight: 30, arbitrary: distribution.sizes }, { weight: 1, arbitrary: fc.constant('x') }),
      ),
      className: fc.oneof(
        { weight: 6, arbitrary: distribution.classes },
        { weight: 1, arbitrary: fc.constantFrom('static', 'dyn', 'dyn2', '') },
      ),
      betaClass: sometimes(4, fc.constantFrom('static', 'dyn')),
      affinity: sometimes(distribution.affineVolumes, nodeSelectors),
      source: volumeSources,
      phase: fc.oneof(
        { weight: 100 - odd, arbitrary: fc.constant('Available' as const) },
        {
          weight: odd,
          arbitrary: fc.constantFrom('Bound' as const, 'Released' as const, 'Pending' as const),
        },
      ),
      claimRef: sometimes(odd, claimRefs),
      app: sometimes(50, fc.constantFrom('x', 'y')),
      zone: sometimes(12, fc.constantFrom('a', 'b', 'a__b', 'c', '', 'a__')),
      betaZone: sometimes(5, fc.constantFrom('a', 'b')),
      mode: sometimes(8, fc.constantFrom('Block' as const, 'Filesystem' as const)),
      accessModes,
      attributesClass: sometimes(6, fc.constantFrom('gold', '')),
      preference: sometimes(5, preferences),
      isDeleting: sometimes(4, fc.constant('2026-01-01T00:00:00Z')),
    })
    .map((random) => volumeOf(name, random));
}

type RandomVolume = {
  readonly size: string | undefined;
  readonly className: string;
  readonly betaClass: string | undefined;
  readonly affinity: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } | undefined;
  readonly source: Partial<NonNullable<PersistentVolume['spec']>>;
  readonly phase: 'Available' | 'Bound' | 'Released' | 'Pending';
  readonly claimRef: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  readonly app: string | undefined;
  readonly zone: string | undefined;
  readonly betaZone: string | undefined;
  readonly mode: 'Block' | 'Filesystem' | undefined;
  readonly accessModes: readonly PersistentVolumeAccessMode[];
  readonly attributesClass: string | undefined;
  readonly preference: string | undefined;
  readonly isDeleting: string | undefined;
};

function volumeOf(name: string, random: RandomVolume): PersistentVolume {
  const { claimRef, affinity } = random;
  const uid = claimRef?.uid === 'right' ? `uid-${claimRef.name}` : claimRef?.uid;
  return {
    metadata: withoutUndefined({
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: withoutUndefined({
        app: random.app,
        [wellKnownLabels.zone]: random.zone,
        [wellKnownLabels.betaZone]: random.betaZone,
      }),
      annotations: withoutUndefined({
        [annotations.betaStorageClass]: random.betaClass,
        [annotations.preferredNodeAffinity]: random.preference,
      }),
      deletionTimestamp: random.isDeleting,
    }),
    spec: withoutUndefined({
      ...random.source,
      capacity: random.size === undefined ? undefined : { storage: random.size },
      accessModes: random.accessModes,
      storageClassName: random.className,
      nodeAffinity: affinity && { required: affinity },
      claimRef: claimRef && { namespace: claimRef.namespace, name: claimRef.name, ...(uid && { uid }) },
      volumeMode: random.mode,
      volumeAttributesClassName: random.attributesClass,
    }),
    status: { phase: random.phase },
  };
}
