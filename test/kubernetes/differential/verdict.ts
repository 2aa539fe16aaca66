/** What a scheduler says about a pod. */
export type Verdict =
  /** The nodes that it could go to, sorted by name. */
  | { readonly kind: 'fits'; readonly nodes: readonly string[] }
  | {
      readonly kind: 'refused';
      /** Of the condition PodScheduled. */
      readonly message: string;
      /** The node that others can be evicted from so that it fits; empty if there is none. */
      readonly makesRoomOn: string;
    };

export function fits(nodes: Iterable<string>): Verdict {
  return { kind: 'fits', nodes: [...nodes].sort() };
}
