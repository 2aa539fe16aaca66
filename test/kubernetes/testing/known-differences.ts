import { kubernetesRelease } from '../programs.ts';

/** An intended difference between our controllers and kube-controller-manager, or one that depends on timing. */
export interface KnownDifference {
  /** All scenarios by default. */
  readonly scenes?: readonly string[];
  /** Matches the line of the difference. */
  readonly line: RegExp;
  readonly reason: string;
  /** The difference depends on timing, so it need not occur. */
  readonly isByChance?: boolean;
}

const besideAll: readonly KnownDifference[] = [
  {
    scenes: ['external-provisioning', 'nobody-provisions', 'ephemeral-volumes'],
    line: /Event only (ours|real): PersistentVolumeClaim .* WaitForPodScheduled waiting for pod user to be scheduled$/,
    reason:
      'It is told by who looks at the claim between the coming of the pod and its scheduling: ours when the pod wakes it, kube-controller-manager when it next looks at all claims.',
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
  {
    line: /Event only ours: .* a write was not answered within [\d.]+ s$/,
    reason:
      'Whoever leads gives up a write that is not answered while it surely leads, and tries again; on a busy machine that happens.',
    isByChance: true,
  },
  {
    scenes: ['budgets-of-sets'],
    line: /PodDisruptionBudget db\.status\.(currentHealthy: real 2, ours 3|disruptionsAllowed: real 1, ours 2|disruptedPods: real \{"db-0":"[^"]*"\}, ours undefined)$/,
    reason:
      'kube-controller-manager takes the next pod of the name for the evicted one if it has not looked in between, for two minutes.',
    isByChance: true,
  },
  {
    scenes: ['default-class', 'external-provisioning', 'nobody-provisions', 'unscheduled-consumer'],
    line: /Event only ours: PersistentVolumeClaim \S+: Normal ExternalProvisioning /,
    reason:
      'client-go drops Events about an object after 25 in a row; kube-controller-manager tells a claim each second that it waits, and a busy machine lets it wait for long.',
    isByChance: true,
  },
  {
    scenes: ['namespace-goes', 'namespace-stays'],
    line: /Event only (ours|real): PersistentVolumeClaim \S+: Normal ExternalProvisioning /,
    reason:
      'Events are written in the background; when one is late, its namespace is going and takes no more.',
    isByChance: true,
  },
];

/** Our controllers follow 1.36, also if they are compared with another release. */
const beside134: readonly KnownDifference[] = [
  {
    line: /Event only (ours|real): StatefulSet \S+: (Normal Successful|Warning Failed)(Create|Delete|Update) [cdu]/i,
    reason: '1.34 begins what it says about the pods of a StatefulSet with a small letter.',
  },
  {
    line: /\.status\.terminatingReplicas: real undefined, ours \d+$/,
    reason: '1.34 does not count pods that are going, unless told to.',
  },
];

export const knownDifferences: readonly KnownDifference[] =
  kubernetesRelease(process.env) === '1.34' ? [...besideAll, ...beside134] : besideAll;

/** For kube-controller-manager on both clusters: a difference may occur in either direction. */
export function unknownEitherWay(scene: string, lines: readonly string[]): readonly string[] {
  const met = new Set<KnownDifference>();
  return unknownOf(scene, lines, met).filter((line) => unknownOf(scene, [mirrored(line)], met).length > 0);
}

/** The lines that no known difference matches; `matched` receives the known differences that matched. */
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

function mirrored(line: string): string {
  return line
    .replace(/(?<=: Event only )(real|ours)(?=: )/, (whose) => (whose === 'real' ? 'ours' : 'real'))
    .replace(/: real (.*), ours (.*)$/, ': real $2, ours $1');
}
