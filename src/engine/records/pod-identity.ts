/** Whether pods are the same to rules that tell them apart by their labels. */
import type { PodRecord } from './pod-record.ts';

/** It asks for something else, or has other labels. News of its status is no reason to look at it again. */
export function isAnotherNow(pod: PodRecord, now: PodRecord | undefined): boolean {
  return now !== undefined && (now.shape.key !== pod.shape.key || !areLabelledAlike(now, pod));
}

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

export function areLabelledAlike(a: Labelled, b: Labelled): boolean {
  const keys = Object.keys(a.labels);
  return keys.length === Object.keys(b.labels).length && keys.every((key) => a.labels[key] === b.labels[key]);
}
