/** What of a line that is being typed says which cluster, and which objects of it. */
export interface Asked {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  /** Of `explain`. */
  readonly kind: 'pod' | 'claim' | undefined;
  readonly readsFiles: boolean;
}

/** The words before the one that is typed, without `stowage`. Shells break `--flag=value` or don't; both are understood. */
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
