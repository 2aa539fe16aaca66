import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { areDrivesAwaited, lookUpPools } from '../../engine/cluster-index/pools/pool-lookup.ts';
import { truncatedList } from '../../engine/explain/truncated-list.ts';
import { isUnread } from '../view/unread-kinds.ts';
import type { PodQuestion } from './pod-question.ts';

/** The kinds without which nothing can be said about a pod's volumes, with their names for `kubectl get`. */
const neededKinds = {
  PersistentVolumeClaim: { resource: 'pvc -A', plural: 'persistentvolumeclaims' },
  StorageClass: { resource: 'storageclasses', plural: 'storageclasses' },
  PersistentVolume: { resource: 'pv', plural: 'persistentvolumes' },
  Drive: { resource: 'drives', plural: 'drives.stowage.dev' },
} as const satisfies { readonly [K in IndexedKind]?: { readonly resource: string; readonly plural: string } };

const namesShownMax = 3;

/** The objects that must be read before the pod can be explained, as the rest of a sentence; undefined if nothing is missing. */
export function unreadCause({ view, record, index }: PodQuestion): string | undefined {
  const claims = record.claims.map(({ key }) => key);
  const known = claims.flatMap((key) => index.claims.get(key) ?? []);
  const unbound = known.filter(({ isBound, className }) => !isBound && className !== '');
  const onDrives = unbound.filter(({ className }) => needsDrive(index, className));
  const bound = known.filter(({ isBound }) => isBound);
  const lacks = (kind: keyof typeof neededKinds, users: readonly string[], uses: string) => {
    if (users.length === 0 || !isUnread(view, kind)) return undefined;
    const { resource, plural } = neededKinds[kind];
    const about = `${uses} ${truncatedList(users.slice(0, namesShownMax), users.length)}`;
    return view.isFromFiles
      ? `the files contain no ${kind}, and ${about}; add the output of kubectl get ${resource} -o yaml`
      : `${plural} could not be read, and ${about}; the right to list ${plural} is needed`;
  };
  return (
    lacks('PersistentVolumeClaim', claims, 'it uses the claims') ??
    lacks(
      'StorageClass',
      [...new Set(unbound.map(({ className }) => className))],
      'its claims ask for class',
    ) ??
    lacks('Drive', [...new Set(onDrives.map(({ className }) => className))], 'its claims ask for class') ??
    lacks(
      'PersistentVolume',
      bound.map(({ volumeName }) => volumeName),
      'its claims are bound to',
    )
  );
}

/** Whether only drives have room for volumes of the class: no other kind of object publishes any. */
function needsDrive(index: ClusterIndex, className: string): boolean {
  const provisioner = index.classes.get(className)?.provisioner ?? '';
  if (!areDrivesAwaited(index, provisioner)) return false;
  const pools = lookUpPools(index, provisioner, className);
  return pools.kind === 'none' || (pools.kind === 'pools' && pools.entry.isOfDrives);
}
