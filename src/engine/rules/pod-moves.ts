import type { PodRecord } from '../records/pod-record.ts';

/**
 * The nodes that a pod occupied, or was to occupy once others had made place for it, and occupies no longer: it is gone, finished or
 * elsewhere. Asked of every event about a pod, for pods that wait for its place.
 */
export function nodesLeft(before: PodRecord | undefined, after: PodRecord | undefined): string[] {
  return placesOf(before).filter((name) => !isStillAt(name, before, after));
}

/** Who is only to go somewhere leaves a node on which it was before. */
function isStillAt(name: string, before: PodRecord | undefined, after: PodRecord | undefined): boolean {
  if (after?.nodeName === name) return !after.isFinished;
  return before?.nodeName === '' && placesOf(after).includes(name);
}

/** Where the pod is; or, while it is nowhere, where it is to go. */
export function placesOf(pod: PodRecord | undefined): string[] {
  if (pod === undefined || pod.isFinished) return [];
  const place = pod.nodeName === '' ? pod.nominatedNode : pod.nodeName;
  return place === '' ? [] : [place];
}
