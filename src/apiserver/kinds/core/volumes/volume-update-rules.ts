import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkImmutable, immutableMessage } from '../../../validation/immutable.ts';
import { labelValueProblems } from '../../../validation/names.ts';
import { sourceOf } from './persistent-volume-sources.ts';

/**
 * The source and the volume mode are immutable. A node affinity may be added, but hardly changed; a
 * VolumeAttributesClass may be changed, but not removed.
 */
export function checkVolumeSpecUpdate(
  errors: FieldErrors,
  spec: PersistentVolumeSpec,
  old: PersistentVolumeSpec,
): void {
  if (!isSemanticallyEqual(sourceToCompare(spec, old), sourceOf(old))) {
    const detail = 'spec.persistentvolumesource is immutable after creation';
    errors.forbidden('spec.persistentvolumesource', detail);
  }
  checkImmutable(errors, 'volumeMode', spec.volumeMode, old.volumeMode);
  if (old.nodeAffinity !== undefined) checkAffinityUpdate(errors, spec.nodeAffinity, old.nodeAffinity);
  if (old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    const detail = 'update from non-nil value to nil is forbidden';
    errors.forbidden('spec.volumeAttributesClassName', detail);
  }
}

/** Whether an affinity contains a value that no label can have. Existing ones may stay. */
export function hasInvalidAffinityValue(affinity: VolumeNodeAffinity | undefined): boolean {
  const terms = affinity?.required?.nodeSelectorTerms ?? [];
  const requirements = terms.flatMap((term) => term.matchExpressions ?? []);
  return requirements.some(({ values }) => values?.some((value) => labelValueProblems(value).length > 0));
}

/** controllerExpandSecretRef may be added later: it is newer than the first CSI volumes. */
function sourceToCompare(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): object {
  const source = sourceOf(spec);
  if (source.csi === undefined || old.csi === undefined) return source;
  if (old.csi.controllerExpandSecretRef !== undefined) return source;
  return { ...source, csi: { ...source.csi, controllerExpandSecretRef: undefined } };
}

function checkAffinityUpdate(
  errors: FieldErrors,
  affinity: VolumeNodeAffinity | undefined,
  old: VolumeNodeAffinity,
): void {
  if (affinity !== undefined && isSameAffinity(affinity, old)) return;
  const detail = `${immutableMessage}, except for updating from beta label to GA`;
  errors.invalid('nodeAffinity', shownAffinity(affinity), detail);
}

/** Labels that were renamed when they became stable. A volume may follow the renaming. */
const stableLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

function isSameAffinity(affinity: VolumeNodeAffinity, old: VolumeNodeAffinity): boolean {
  if ((affinity.required === undefined) !== (old.required === undefined)) return false;
  const terms = affinity.required?.nodeSelectorTerms ?? [];
  const oldTerms = old.required?.nodeSelectorTerms ?? [];
  return isSameList(terms, oldTerms, isSameTerm);
}

function isSameTerm(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  return (
    isSameList(term.matchExpressions ?? [], old.matchExpressions ?? [], isSameRequirement) &&
    isSameList(term.matchFields ?? [], old.matchFields ?? [], isSameRequirement)
  );
}

function isSameRequirement(requirement: NodeSelectorRequirement, old: NodeSelectorRequirement): boolean {
  const follows = stableLabels[old.key] === requirement.key;
  return isSemanticallyEqual(requirement, follows ? { ...old, key: requirement.key } : old);
}

function isSameList<T>(list: readonly T[], old: readonly T[], isSame: (item: T, old: T) => boolean): boolean {
  return list.length === old.length && list.every((item, index) => isSame(item, old[index] as T));
}

/** The affinity as kube-apiserver prints it in errors: with Go field names. */
function shownAffinity(affinity: VolumeNodeAffinity | undefined): unknown {
  if (affinity === undefined) return null;
  const terms = affinity.required?.nodeSelectorTerms?.map((term) => ({
    MatchExpressions: term.matchExpressions?.map(shownRequirement) ?? null,
    MatchFields: term.matchFields?.map(shownRequirement) ?? null,
  }));
  return { Required: affinity.required === undefined ? null : { NodeSelectorTerms: terms ?? null } };
}

function shownRequirement({ key, operator, values }: NodeSelectorRequirement): unknown {
  return { Key: key, Operator: operator, Values: values ?? null };
}
