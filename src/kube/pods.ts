/** Whether the pod has ended, with or without success. It will not run again. */
export function isFinished({ status }: PodWithPhase): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Both forms of a pod: as read from a cluster, and as stored. */
interface PodWithPhase {
  readonly status?: { readonly phase?: string | undefined };
}
