import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Pod, PodTemplateSpec, Volume } from '../../kube/api/core.ts';
import { controllerReference } from '../../kube/owner-references.ts';
import { statefulSets } from '../../kube/resources.ts';
import { podFromTemplate } from './template-pod.ts';

const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';
const revisionLabel = 'controller-revision-hash';

const ordinalMax = 2 ** 31 - 1;

/** A template with the name of its revision. */
export interface SetRevision {
  readonly name: string;
  readonly template: PodTemplateSpec;
}

/** The pod of this ordinal in this revision: with its own name, host name and volumes. */
export function memberPod(set: StatefulSet, { name: revision, template }: SetRevision, ordinal: number): Pod {
  const name = podNameOf(set, ordinal);
  const pod = podFromTemplate(
    template,
    set.metadata?.namespace ?? '',
    controllerReference(set, statefulSets),
  );
  const labels = { ...pod.metadata?.labels, ...identityLabels(name, ordinal), [revisionLabel]: revision };
  const subdomain = set.spec?.serviceName;
  return {
    metadata: { ...pod.metadata, name, generateName: `${set.metadata?.name}-`, labels },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(subdomain === undefined || subdomain === '' ? {} : { subdomain }),
      volumes: memberVolumes(set, pod.spec?.volumes ?? [], ordinal),
    },
  };
}

/** Volumes of the claim templates, which replace others of the same name, and then the rest. */
function memberVolumes(set: StatefulSet, volumes: readonly Volume[], ordinal: number): readonly Volume[] {
  const templates = claimTemplateNames(set);
  return [
    ...templates.map((name) => ({
      name,
      persistentVolumeClaim: { claimName: claimNameOf(set, name, ordinal) },
    })),
    ...volumes.filter(({ name = '' }) => !templates.includes(name)),
  ];
}

export function identityLabels(name: string, ordinal: number): Readonly<Record<string, string>> {
  return { [podNameLabel]: name, [podIndexLabel]: String(ordinal) };
}

/** The pod has the labels that identify it by name and ordinal. */
export function hasIdentity({ metadata }: Pod): boolean {
  return metadata?.labels?.[podNameLabel] === metadata?.name;
}

export function podRevisionOf({ metadata }: Pod): string {
  return metadata?.labels?.[revisionLabel] ?? '';
}

/** Whether the pod's name is that of a member of this set. */
export function isMember(set: StatefulSet, pod: Pod): boolean {
  return splitName(pod.metadata?.name)?.parent === set.metadata?.name;
}

/** The number at the end of a member's name; undefined if there is none. */
export function ordinalOf({ metadata }: Pod): number | undefined {
  return splitName(metadata?.name)?.ordinal;
}

export function podNameOf({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata?.name}-${ordinal}`;
}

export function claimNameOf({ metadata }: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${metadata?.name}-${ordinal}`;
}

export function claimTemplateNames({ spec }: StatefulSet): readonly string[] {
  return (spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '');
}

export function startOrdinalOf({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0;
}

export function setReplicasOf({ spec }: StatefulSet): number {
  return spec?.replicas ?? 1;
}

/** One more than the last ordinal. A pod with an ordinal above the maximum would not be recognized as a member. */
export function endOrdinalOf(set: StatefulSet): number {
  return Math.min(startOrdinalOf(set) + setReplicasOf(set), ordinalMax + 1);
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  return ordinal >= startOrdinalOf(set) && ordinal < endOrdinalOf(set);
}

function splitName(name = ''): { readonly parent: string; readonly ordinal: number } | undefined {
  const match = /^(.*)-([0-9]+)$/.exec(name);
  const ordinal = Number(match?.[2]);
  return match?.[1] === undefined || ordinal > ordinalMax ? undefined : { parent: match[1], ordinal };
}
