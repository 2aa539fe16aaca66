/** The flags of an unfinished command line that select the cluster and its objects. */
export interface Asked {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  /** The kind argument of `explain`. */
  readonly kind: 'pod' | 'claim' | undefined;
  readonly readsFiles: boolean;
}

/** Parses the words before the cursor, without `stowage`. Some shells split `--flag=value`, others don't; it accepts both. */
export function askedIn(words: readonly string[]): Asked {
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
    readsFiles: plain.includes('--from'),
  };
}

function kindIn(words: readonly string[]): Asked['kind'] {
  if (words.includes('pod') || words.includes('pods') || words.includes('po')) return 'pod';
  return words.includes('claim') || words.includes('pvc') ? 'claim' : undefined;
}
