/** The decision of a scheduler about a pod. */
export type Verdict =
  /** The nodes on which the pod fits, sorted by name. */
  | { readonly kind: 'fits'; readonly nodes: readonly string[] }
  | {
      readonly kind: 'refused';
      /** The message of the condition PodScheduled. */
      readonly message: string;
      /** The node on which a preemption would help; empty if there is none. */
      readonly preemptsOn: string;
    };

export function fits(nodes: Iterable<string>): Verdict {
  return { kind: 'fits', nodes: [...nodes].sort() };
}
