import type { StatefulSet } from '../../../kube/api/apps.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { OwnerReference } from '../../../kube/api/meta.ts';
import { claimKeys } from '../../../queries/view/claim-keys.ts';

/** Who a lost claim belongs to, and what that owner can do. */
export interface ClaimAdvice {
  /** Such as `StatefulSet shop/db`. */
  readonly owner?: string | undefined;
  readonly advice: string;
}

/** `claim` is `NAMESPACE/NAME`. */
export function adviceFor(
  claim: string,
  { statefulSets, pods }: { readonly statefulSets: readonly StatefulSet[]; readonly pods: readonly Pod[] },
): ClaimAdvice {
  const set = statefulSets.find((one) => isClaimOf(one, claim));
  const users = pods.filter((pod) => claimKeys(pod).includes(claim));
  const names = users.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`).join(', ');
  if (set !== undefined)
    return {
      owner: `StatefulSet ${set.metadata?.namespace}/${set.metadata?.name}`,
      advice: `delete claim ${claim}${names === '' ? '' : ` and pod ${names}`}: the StatefulSet creates them again with an empty volume, and the application restores its data from a replica or a backup`,
    };
  const controller = users.flatMap((pod) => controllerOf(pod) ?? [])[0];
  return {
    owner: controller ?? (names === '' ? undefined : `Pod ${names}`),
    advice: `delete claim ${claim}, create it again from its manifest, and restore the data from a backup`,
  };
}

function controllerOf({ metadata }: Pod): string | undefined {
  const owner = metadata?.ownerReferences?.find((one: OwnerReference) => one.controller === true);
  return owner && `${owner.kind} ${metadata?.namespace}/${owner.name}`;
}

/** Claims of a StatefulSet are called `TEMPLATE-SET-ORDINAL`. */
function isClaimOf({ metadata, spec }: StatefulSet, claim: string): boolean {
  return (spec?.volumeClaimTemplates ?? []).some((template) => {
    const prefix = `${metadata?.namespace}/${template.metadata?.name}-${metadata?.name}-`;
    return claim.startsWith(prefix) && /^\d+$/.test(claim.slice(prefix.length));
  });
}
