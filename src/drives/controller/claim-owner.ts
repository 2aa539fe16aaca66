import type { Cluster } from '../../cluster/cluster.ts';
import { persistentVolumeClaims, pods, statefulSets } from '../../kube/resources.ts';
import type { DriveUser } from '../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';

/** The ledger accepts groups of this length. */
const groupLengthMax = 253;

/**
 * The group by which the volumes of a claim are spread: the owner of the claim, such as `default/db` for a StatefulSet. A claim of a StatefulSet has no
 * owner reference unless its retention policy deletes it, so its name decides then: `TEMPLATE-SET-ORDINAL`. Undefined: it has no owner.
 */
export async function claimOwnerGroup(
  cluster: Cluster,
  { namespace, name }: DriveUser,
  signal: AbortSignal,
): Promise<string | undefined> {
  const claims = cluster.resource(persistentVolumeClaims);
  const claim = await undefinedIfNotFound(claims.get({ namespace, name }, { signal }));
  const owner = claim?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  const set =
    owner?.kind === 'Pod'
      ? await ownerOfPod(cluster, { namespace, name: owner.name ?? '' }, signal)
      : (owner?.name ?? (await statefulSetOf(cluster, { namespace, name }, signal)));
  return set === undefined ? undefined : `${namespace}/${set}`.slice(0, groupLengthMax);
}

async function ownerOfPod(
  cluster: Cluster,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const pod = await undefinedIfNotFound(cluster.resource(pods).get(key, { signal }));
  return pod?.metadata?.ownerReferences?.find(({ controller }) => controller === true)?.name ?? key.name;
}

async function statefulSetOf(
  cluster: Cluster,
  { namespace, name }: DriveUser,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { items } = await cluster.resource(statefulSets).list({ namespace, signal });
  const owner = items.find(({ metadata, spec }) =>
    spec?.volumeClaimTemplates?.some((template) => {
      const prefix = `${template.metadata?.name}-${metadata?.name}-`;
      return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
    }),
  );
  return owner?.metadata?.name;
}
