/** It has run to its end, well or not, and will not run again. */
export function isFinished({ status }: PodWithPhase): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** A pod of anybody's; read from a wire or from our own store. */
interface PodWithPhase {
  readonly status?: { readonly phase?: string | undefined };
}
