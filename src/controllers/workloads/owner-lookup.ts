import type { ObjectMeta, OwnerReference } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import type { ObjectKey, Resource } from '../../kube/resource.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';

/** The owners of an object, by uid, in their current state. */
export interface OwnerStates {
  readonly present: readonly string[];
  /** Missing, or another object has the name. */
  readonly absent: readonly string[];
  /** Owners that are being deleted, and held until their dependents are deleted. */
  readonly waiting: readonly string[];
  /** Owners of a kind that this cluster does not serve, or unreachable ones: their state is unknown, so the object stays. */
  readonly unresolved: number;
}

/** Reads from the cluster whether owners still exist. */
export class OwnerLookup {
  readonly #context: Pick<ControllerContext, 'cluster' | 'metadataCache'>;

  constructor(context: Pick<ControllerContext, 'cluster' | 'metadataCache'>) {
    this.#context = context;
  }

  async states({ ownerReferences = [], namespace }: ObjectMeta, signal: AbortSignal): Promise<OwnerStates> {
    const present: string[] = [];
    const absent: string[] = [];
    const waiting: string[] = [];
    let unresolved = 0;
    for (const reference of ownerReferences) {
      const state = await this.#stateOf(reference, namespace, signal);
      if (state === 'unresolved') unresolved += 1;
      else ({ present, absent, waiting })[state].push(reference.uid ?? '');
    }
    return { present, absent, waiting, unresolved };
  }

  /** Owners are in the namespace of their dependents, or cluster-wide. */
  locate(
    { apiVersion, kind, name = '' }: OwnerReference,
    namespace: string | undefined,
  ): { readonly resource: Resource; readonly key: ObjectKey } | undefined {
    const resource = this.#context.metadataCache.resourceOfKind(apiVersion, kind);
    if (resource === undefined || (resource.namespaced && namespace === undefined)) return undefined;
    return { resource, key: { namespace: resource.namespaced ? namespace : undefined, name } };
  }

  async #stateOf(
    reference: OwnerReference,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<'present' | 'absent' | 'waiting' | 'unresolved'> {
    const located = this.locate(reference, namespace);
    if (located === undefined) return 'unresolved';
    const client = this.#context.cluster.resource(located.resource);
    try {
      const { metadata = {} } = await client.get(located.key, { signal });
      if (metadata.uid !== reference.uid) return 'absent';
      const { deletionTimestamp, finalizers = [] } = metadata;
      const isWaiting = deletionTimestamp !== undefined && finalizers.includes('foregroundDeletion');
      return isWaiting ? 'waiting' : 'present';
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      // Without a name it is the kind that is not found: it may be served again in a moment, with the owner in it.
      return error.status.details?.name === undefined ? 'unresolved' : 'absent';
    }
  }
}
