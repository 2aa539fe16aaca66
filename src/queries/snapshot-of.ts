import type { KubeObject } from '../kube/api/meta.ts';
import { addObjects } from '../state/add-objects.ts';
import { ClusterSnapshot } from '../state/cluster-snapshot.ts';
import { objectsIn } from '../state/read-manifests.ts';
import { QuestionError } from './question-error.ts';
import type { ClusterView } from './view/cluster-view.ts';
import { diskViewIn } from './view/disk-view.ts';

export interface SnapshotOptions {
  /**
   * True if `objects` has all objects of the cluster: then a kind without objects has none. Otherwise the notes of a report name the kinds that it
   * lacks.
   */
  readonly isComplete?: boolean;
}

/**
 * The cluster at one moment, from objects and lists as the API server returns them. Objects that no query uses are ignored. Throws a
 * `QuestionError` if an item is not an object of Kubernetes.
 */
export function snapshotOfObjects(
  objects: Iterable<KubeObject>,
  { isComplete = false }: SnapshotOptions = {},
): ClusterView {
  const snapshot = new ClusterSnapshot();
  const { events, leases, diskKinds, policies } = addObjects(itemsOf(objects), snapshot);
  return {
    snapshot,
    events,
    leases,
    policies,
    disks: diskViewIn(diskKinds),
    notes: [],
    seesNodes: isComplete || snapshot.count('Node') > 0,
    ...(isComplete ? { unseen: [] } : { isFromFiles: true }),
  };
}

function* itemsOf(objects: Iterable<KubeObject>): Generator<KubeObject, void, void> {
  let at = 0;
  for (const object of objects) {
    try {
      yield* objectsIn(asJson(object), `objects[${at}]`);
    } catch (error) {
      throw new QuestionError((error as Error).message, { cause: error });
    }
    at += 1;
  }
}

/** Clients such as `@kubernetes/client-node` have a `Date` where the API has a text. */
function asJson(object: KubeObject): unknown {
  return JSON.parse(JSON.stringify(object) ?? 'null');
}
