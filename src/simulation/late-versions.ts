import type { PersistentVolumeClaim, Pod } from '../kube/api/core.ts';
import { getCondition } from '../kube/conditions.ts';
import type { StoredVersion } from './invariants/invariant.ts';
import { versionText } from './version-text.ts';

/**
 * The versions that were stored although the system should be at rest. One per pod is not a sign of work without end: the scheduler tries a
 * refused pod again after some minutes, and writes why it is refused now. One of several reasons may have ended without an event that
 * would help the pod. The expander also repeats a refused expansion after some minutes, and says so on the claim.
 */
export class LateVersions {
  readonly texts: string[] = [];
  readonly #refreshed = new Set<string>();

  add(version: StoredVersion): void {
    const { key } = version;
    if (isRepeatedExpansion(version)) return;
    if (isOtherReason(version) && !this.#refreshed.has(key)) this.#refreshed.add(key);
    else this.texts.push(versionText(version));
  }
}

/** The version changes nothing of a refused pod but the condition PodScheduled. */
function isOtherReason({ resource, before, after }: StoredVersion): boolean {
  if (resource !== 'pods' || before === undefined || after === undefined) return false;
  const isRefused = getCondition((after as Pod).status?.conditions, 'PodScheduled')?.status === 'False';
  return isRefused && textWithoutReason(before) === textWithoutReason(after);
}

/** The version only starts an expansion that was refused before, or refuses it again for the same reason. */
function isRepeatedExpansion({ resource, before, after }: StoredVersion): boolean {
  if (resource !== 'persistentvolumeclaims' || before === undefined || after === undefined) return false;
  const states = [before, after].map(
    (claim) => (claim as PersistentVolumeClaim).status?.allocatedResourceStatuses?.storage,
  );
  const isAttempt = states.toSorted().join(' ') === 'ControllerResizeInProgress ControllerResizeInfeasible';
  return isAttempt && textWithoutExpansion(before) === textWithoutExpansion(after);
}

function textWithoutExpansion(object: StoredVersion['before']): string {
  const { metadata, spec, status } = (object ?? {}) as PersistentVolumeClaim;
  const { resourceVersion: _, managedFields: __, ...kept } = metadata ?? {};
  const { allocatedResourceStatuses: ___, conditions: ____, ...other } = status ?? {};
  return JSON.stringify([kept, spec, other]);
}

function textWithoutReason(object: StoredVersion['before']): string {
  const { metadata, spec, status } = (object ?? {}) as Pod;
  const { resourceVersion: _, managedFields: __, ...kept } = metadata ?? {};
  const conditions = (status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  return JSON.stringify([kept, spec, { ...status, conditions }]);
}
