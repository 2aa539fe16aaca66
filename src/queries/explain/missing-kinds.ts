import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { canProvision, claimClassName } from '../../kube/volumes.ts';
import { textOf } from '../../kube/wire.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { claimKeys } from '../view/claim-keys.ts';
import type { Note } from '../view/note.ts';
import { effects } from '../view/unseen-notes.ts';

/** Kinds that are missing in the files and that the explanation may depend on, each with the command that exports it. */
export function missingKindNotes(snapshot: ClusterSnapshot, pods: readonly Pod[]): readonly Note[] {
  const lacking = [...kindsLacking(snapshot, pods), ...pods.flatMap((pod) => objectsLacking(snapshot, pod))];
  return [...new Set(lacking)].map((text) => ({ about: 'missing', text }));
}

function kindsLacking(snapshot: ClusterSnapshot, pods: readonly Pod[]): string[] {
  const hasClaims = pods.some((pod) => claimKeys(pod).length > 0);
  const isUnbound = pods.some((pod) =>
    claimsOf(snapshot, pod).some(({ spec }) => textOf(spec?.volumeName) === ''),
  );
  const found: string[] = [];
  const check = (kind: IndexedKind, resource: string, matters = true) => {
    if (matters && snapshot.count(kind) === 0)
      found.push(
        `there is no ${kind} in the files: ${effects[kind]}; add the output of kubectl get ${resource} -o yaml`,
      );
  };
  check('Node', 'nodes');
  if (snapshot.count('Pod') <= pods.length)
    found.push(
      `there are no other pods in the files: ${effects.Pod}; add the output of kubectl get pods -A -o yaml`,
    );
  check('PersistentVolume', 'pv', hasClaims);
  check('StorageClass', 'storageclasses', isUnbound);
  // A cluster may have none of these. Files with any other kind that only a full dump contains come from such a cluster.
  const isFull = fullDumpKinds.some((kind) => snapshot.count(kind) > 0);
  check('CSINode', 'csinodes', hasClaims && !isFull);
  check('CSIDriver', 'csidrivers', isUnbound && !isFull && makesVolumes(snapshot, pods));
  const tracks = [...snapshot.values('CSIDriver')].some(({ spec }) => spec?.storageCapacity === true);
  const pools = snapshot.count('CSIStorageCapacity') + snapshot.count('DriverCapacity');
  if (isUnbound && tracks && pools === 0)
    found.push(
      'there is no CSIStorageCapacity in the files, though a driver tracks capacity: no free capacity is found anywhere; add the output of kubectl get csistoragecapacities -A -o yaml',
    );
  return found;
}

/** Kinds that users add only when they follow the documented command. */
const fullDumpKinds: readonly IndexedKind[] = [
  'CSIDriver',
  'CSINode',
  'CSIStorageCapacity',
  'VolumeAttachment',
  'Namespace',
];

function makesVolumes(snapshot: ClusterSnapshot, pods: readonly Pod[]): boolean {
  return pods.some((pod) =>
    claimsOf(snapshot, pod).some((claim) => {
      const storageClass = snapshot.get('StorageClass', claimClassName(claim));
      return storageClass !== undefined && canProvision(storageClass);
    }),
  );
}

function objectsLacking(snapshot: ClusterSnapshot, pod: Pod): string[] {
  const missing = claimKeys(pod)
    .filter((key) => snapshot.get('PersistentVolumeClaim', key) === undefined)
    .map(
      (key) => `claim ${key} is not in the files; if it exists, add the output of kubectl get pvc -A -o yaml`,
    );
  const behind = claimsOf(snapshot, pod).flatMap((claim) => {
    const volume = textOf(claim.spec?.volumeName);
    const className = claimClassName(claim);
    const lacksVolume = volume !== '' && snapshot.get('PersistentVolume', volume) === undefined;
    const lacksClass =
      volume === '' && className !== '' && snapshot.get('StorageClass', className) === undefined;
    return [
      ...(lacksVolume
        ? [
            `PersistentVolume ${volume}, which ${claim.metadata?.name} is bound to, is not in the files; add the output of kubectl get pv -o yaml`,
          ]
        : []),
      ...(lacksClass
        ? [
            `StorageClass ${className} of ${claim.metadata?.name} is not in the files; add the output of kubectl get storageclasses -o yaml`,
          ]
        : []),
    ];
  });
  return [...missing, ...behind];
}

function claimsOf(snapshot: ClusterSnapshot, pod: Pod): PersistentVolumeClaim[] {
  return claimKeys(pod).flatMap((key) => snapshot.get('PersistentVolumeClaim', key) ?? []);
}
