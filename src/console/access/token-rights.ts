import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { Semaphore } from '../../runtime/semaphore.ts';
import type { Rights } from './rights.ts';

/** A resource that the console shows. */
export type ShownResource = Pick<Resource, 'group' | 'plural' | 'namespaced'>;

interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: object };
  readonly status?: { readonly allowed?: boolean };
}

const accessReviews: Resource<AccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

/** Questions to the API server at one time. */
const concurrentMax = 16;

/** Each namespace costs a few questions. What is in further namespaces is not shown. */
export const namespacesAskedMax = 500;

/**
 * Asks the API server what the user of `asViewer` may list: everywhere, and where that is not allowed, in each namespace. Undefined if the
 * server does not accept the user's token.
 */
export async function readRights(
  asViewer: Cluster,
  resources: readonly ShownResource[],
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<Rights | undefined> {
  const reviews = asViewer.resource(accessReviews);
  const permits = new Semaphore(concurrentMax);
  const mayListIn = async ({ group, plural }: ShownResource, namespace: string) =>
    await permits.run(signal, async () => {
      const resourceAttributes = { verb: 'list', group, resource: plural, namespace };
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: accessReviews.kind };
      const { status } = await reviews.create({ ...review, spec: { resourceAttributes } });
      return status?.allowed === true;
    });
  try {
    // One question first: for a token that is none, it is the only one.
    const [first, ...rest] = resources;
    const isFirst = first !== undefined && (await mayListIn(first, ''));
    const allowed = [isFirst, ...(await Promise.all(rest.map((resource) => mayListIn(resource, ''))))];
    const everywhere = new Set(resources.filter((_, at) => allowed[at]).map(({ plural }) => plural));
    const limited = resources.filter(({ plural, namespaced }) => namespaced && !everywhere.has(plural));
    const asked = limited.length === 0 ? [] : namespaces.slice(0, namespacesAskedMax);
    const found = await Promise.all(
      asked.map(async (namespace) => {
        const may = await Promise.all(limited.map((resource) => mayListIn(resource, namespace)));
        return [namespace, new Set(limited.filter((_, at) => may[at]).map(({ plural }) => plural))] as const;
      }),
    );
    return rightsOf(resources, everywhere, new Map(found.filter(([, plurals]) => plurals.size > 0)));
  } catch (error) {
    if (isReason(error, 'Unauthorized')) return undefined;
    throw error;
  }
}

function rightsOf(
  resources: readonly ShownResource[],
  everywhere: ReadonlySet<string>,
  byNamespace: ReadonlyMap<string, ReadonlySet<string>>,
): Rights {
  const isFull = everywhere.size === resources.length;
  const single = [...byNamespace].map(
    ([namespace, plurals]) => `${namespace}:${[...plurals].sort().join(',')}`,
  );
  const key = isFull ? 'everything' : [[...everywhere].sort().join(','), ...single.sort()].join(' ');
  return { key, isFull, everywhere, byNamespace };
}
