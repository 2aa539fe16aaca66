/** How our controllers differ from kube-controller-manager on purpose, or where either may be first. */
export interface KnownDifference {
  /** All where left out. */
  readonly scenes?: readonly string[];
  /** Of the line that tells of it. */
  readonly line: RegExp;
  readonly reason: string;
  /** It depends on who was quicker, so it need not be there. */
  readonly isByChance?: boolean;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    scenes: ['external-provisioning', 'nobody-provisions', 'ephemeral-volumes'],
    line: /Event only ours: PersistentVolumeClaim .* WaitForPodScheduled waiting for pod user to be scheduled$/,
    reason:
      'A new pod wakes the claims that it uses; kube-controller-manager sees it when it next looks at the claim.',
    isByChance: true,
  },
  {
    line: /Event only real: .* the object has been modified; please apply your changes to the latest version/,
    reason: 'A write that came second is tried again; people need not know.',
    isByChance: true,
  },
  {
    scenes: ['stateful-retention'],
    line: /Event only ours: StatefulSet .*: Normal SuccessfulCreate Create Pod /,
    reason:
      'kube-controller-manager forgets to tell of a pod whose claim was changed by somebody else meanwhile.',
    isByChance: true,
  },
];

/** What is not in the list; `met` gets those that are. */
export function unknownOf(
  scene: string,
  lines: readonly string[],
  met: Set<KnownDifference>,
): readonly string[] {
  return lines.filter((line) => {
    const known = knownDifferences.find(
      ({ scenes = [scene], line: pattern }) => scenes.includes(scene) && pattern.test(line),
    );
    if (known !== undefined) met.add(known);
    return known === undefined;
  });
}
