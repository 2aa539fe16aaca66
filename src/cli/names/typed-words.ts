/** A kind that `explain` accepts, by its main name. */
export type ExplainedKindName = 'pod' | 'claim' | 'deployment' | 'statefulset' | 'replicaset';

/** The flags of an unfinished command line that select the cluster and its objects. */
export interface TypedSelection {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  /** The kind argument of `explain`. */
  readonly kind: ExplainedKindName | undefined;
  readonly readsFiles: boolean;
}

/** Parses the words before the cursor, without `stowage`. Some shells split `--flag=value`, others don't; it accepts both. */
export function askedIn(words: readonly string[]): TypedSelection {
  const parts = words.flatMap((word) => (word.startsWith('--') ? word.split(/=(.*)/s, 2) : [word]));
  const plain = parts.filter((word) => word !== '=' && word !== '');
  const valueAfter = (...flags: readonly string[]) => {
    const at = plain.findLastIndex((word) => flags.includes(word));
    return at < 0 ? undefined : plain[at + 1];
  };
  return {
    kubeconfig: valueAfter('--kubeconfig'),
    context: valueAfter('--context'),
    namespace: valueAfter('-n', '--namespace'),
    kind: kindIn(plain),
    // Files beside a live cluster add to it.
    readsFiles: plain.includes('--from') && !plain.includes('--kubeconfig') && !plain.includes('--context'),
  };
}

function kindIn(words: readonly string[]): TypedSelection['kind'] {
  const named = Object.entries(kindWords).find(([, names]) => names.some((name) => words.includes(name)));
  return named?.[0] as ExplainedKindName | undefined;
}

const kindWords: { readonly [K in ExplainedKindName]: readonly string[] } = {
  pod: ['pod', 'pods', 'po'],
  claim: ['claim', 'claims', 'pvc'],
  deployment: ['deployment', 'deployments', 'deploy'],
  statefulset: ['statefulset', 'statefulsets', 'sts'],
  replicaset: ['replicaset', 'replicasets', 'rs'],
};
