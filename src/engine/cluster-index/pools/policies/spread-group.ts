import type { ClaimRecord } from '../../../records/claim-record.ts';
import type { PodRecord } from '../../../records/pod-record.ts';
import type { PodSelectorRecord } from '../../../records/pod-selector-record.ts';
import { type PolicySources, policyOfClaim } from './policy-of-claim.ts';

export interface GroupSources extends PolicySources {
  readonly podSelectors: { readonly StatefulSet: ReadonlyMap<string, PodSelectorRecord> };
  readonly pods: { stored(key: string): PodRecord | undefined };
}

/** The ledger of a drive accepts groups of this length. */
const groupLengthMax = 253;

/**
 * The group whose volumes go on different drives, such as `default/db` for the claims of a StatefulSet; undefined if neither the class nor
 * the claim wants its volumes apart, or the claim has no owner. CreateVolume computes the same (`src/drives/controller/claim-owner.ts`). `asking` is the pod that is being
 * planned, which may not be in the index.
 */
export function spreadGroupOf(
  sources: GroupSources,
  claim: ClaimRecord,
  asking?: PodRecord,
): string | undefined {
  const driveClass = sources.classes.get(claim.className)?.driveClass;
  if (driveClass === undefined) return undefined;
  if (!driveClass.spreadsByOwner && !policyOfClaim(sources, claim).apart.has('drives')) return undefined;
  return ownerGroupOf(sources, claim, asking);
}

/** The owner whose volumes belong together, such as `default/db`; undefined if the claim has none. */
export function ownerGroupOf(
  sources: Pick<GroupSources, 'podSelectors' | 'pods'>,
  claim: ClaimRecord,
  asking?: PodRecord,
): string | undefined {
  const owner = ownerOf(sources, claim, asking);
  return owner === undefined ? undefined : `${claim.namespace}/${owner}`.slice(0, groupLengthMax);
}

function ownerOf(
  sources: Pick<GroupSources, 'podSelectors' | 'pods'>,
  { namespace, name, controller }: ClaimRecord,
  asking: PodRecord | undefined,
): string | undefined {
  if (controller === undefined) return statefulSetOf(sources, namespace, name);
  if (controller.kind !== 'Pod') return controller.name;
  const podKey = `${namespace}/${controller.name}`;
  const pod = asking?.key === podKey ? asking : sources.pods.stored(podKey);
  const owner = pod?.owner ?? '';
  return owner === '' ? controller.name : owner.slice(owner.indexOf('/') + 1);
}

/**
 * The set that made a claim `TEMPLATE-SET-ORDINAL`; its claims have no owner unless its retention policy deletes them. Both names may have
 * dashes, so every division of the name is looked up. Of several sets the first by name counts, as in a list of the API.
 */
function statefulSetOf(
  { podSelectors }: Pick<GroupSources, 'podSelectors'>,
  namespace: string,
  name: string,
): string | undefined {
  const stem = /^(.+)-\d+$/.exec(name)?.[1];
  if (stem === undefined) return undefined;
  let found: string | undefined;
  for (let at = stem.indexOf('-'); at >= 0; at = stem.indexOf('-', at + 1)) {
    const set = stem.slice(at + 1);
    const templates = podSelectors.StatefulSet.get(`${namespace}/${set}`)?.claimTemplates ?? [];
    if (templates.includes(stem.slice(0, at)) && (found === undefined || set < found)) found = set;
  }
  return found;
}
