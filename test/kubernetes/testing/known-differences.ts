import { kubernetesRelease } from '../programs.ts';

/** An intended difference between our controllers and kube-controller-manager, or one that depends on timing. */
export interface KnownEndStateDifference {
  /** All scenarios by default. */
  readonly scenarios?: readonly string[];
  /** Matches the line of the difference. */
  readonly line: RegExp;
  readonly reason: string;
  /** The difference depends on timing, so it need not occur. */
  readonly isByChance?: boolean;
}

const besideAll: readonly KnownEndStateDifference[] = [
  {
    scenarios: ['external-provisioning', 'no-provisioner', 'ephemeral-volumes'],
    line: /Event only (ours|real): PersistentVolumeClaim .* WaitForPodScheduled waiting for pod user to be scheduled$/,
    reason:
      'The Event is written only if the controller processes the claim after the pod was created and before it is scheduled: ours does when the pod triggers it, kube-controller-manager at its next resync of all claims.',
    isByChance: true,
  },
  {
    scenarios: ['ephemeral-volumes'],
    line: /Event only (ours|real): PersistentVolumeClaim user-data: Normal WaitForFirstConsumer waiting for first consumer to be created before binding$/,
    reason:
      'The pod exists before its claim, but each has a watch of its own: a controller that gets the claim first does not know of a consumer yet.',
    isByChance: true,
  },
  {
    line: /Event only real: .* the object has been modified; please apply your changes to the latest version/,
    reason: 'A write with a conflict is retried; users need no Event about it.',
    isByChance: true,
  },
  {
    scenarios: ['stateful-retention'],
    line: /Event only ours: StatefulSet .*: Normal SuccessfulCreate Create Pod /,
    reason:
      'kube-controller-manager writes no Event about a pod whose claim was changed by another client meanwhile.',
    isByChance: true,
  },
  {
    line: /Event only ours: .* a write was not answered within [\d.]+ s$/,
    reason:
      'A leader abandons a write that is not answered while its lease is certain, and retries it; that happens on a busy machine.',
    isByChance: true,
  },
  {
    scenarios: ['budgets-of-sets'],
    line: /PodDisruptionBudget db\.status\.(currentHealthy: real 2, ours 3|disruptionsAllowed: real 1, ours 2|disruptedPods: real \{"db-0":"[^"]*"\}, ours undefined)$/,
    reason:
      'kube-controller-manager treats the next pod of the same name as the evicted one for two minutes if it has not observed the deletion.',
    isByChance: true,
  },
  {
    scenarios: ['default-class', 'external-provisioning', 'no-provisioner', 'unscheduled-consumer'],
    line: /Event only ours: PersistentVolumeClaim \S+: Normal (ExternalProvisioning|WaitForPodScheduled) /,
    reason:
      'client-go drops Events about an object after 25 in a row; kube-controller-manager writes one for a waiting claim each second, and on a busy machine a claim waits for long.',
    isByChance: true,
  },
  {
    scenarios: ['namespace-goes', 'namespace-stays'],
    line: /Event only (ours|real): PersistentVolumeClaim \S+: Normal ExternalProvisioning /,
    reason:
      'Events are written in the background; when one is late, its namespace is terminating and rejects it.',
    isByChance: true,
  },
];

/** Our controllers follow 1.36, also if they are compared with another release. */
const beside134: readonly KnownEndStateDifference[] = [
  {
    line: /Event only (ours|real): StatefulSet \S+: (Normal Successful|Warning Failed)(Create|Delete|Update) [cdu]/i,
    reason: 'In 1.34, Events about the pods of a StatefulSet begin with a lower case letter.',
  },
  {
    line: /\.status\.terminatingReplicas: real undefined, ours \d+$/,
    reason: 'By default, 1.34 does not count terminating pods.',
  },
];

export const knownEndStateDifferences: readonly KnownEndStateDifference[] =
  kubernetesRelease(process.env) === '1.34' ? [...besideAll, ...beside134] : besideAll;

/** For kube-controller-manager on both clusters: a difference may occur in either direction. */
export function unexpectedLinesEitherWay(scenario: string, lines: readonly string[]): readonly string[] {
  const matched = new Set<KnownEndStateDifference>();
  return unexpectedLines(scenario, lines, matched).filter(
    (line) => unexpectedLines(scenario, [mirrored(line)], matched).length > 0,
  );
}

/** The lines that no known difference matches; `matched` receives the known differences that matched. */
export function unexpectedLines(
  scenario: string,
  lines: readonly string[],
  matched: Set<KnownEndStateDifference>,
): readonly string[] {
  return lines.filter((line) => {
    const known = knownEndStateDifferences.find(
      ({ scenarios = [scenario], line: pattern }) => scenarios.includes(scenario) && pattern.test(line),
    );
    if (known !== undefined) matched.add(known);
    return known === undefined;
  });
}

function mirrored(line: string): string {
  return line
    .replace(/(?<=: Event only )(real|ours)(?=: )/, (whose) => (whose === 'real' ? 'ours' : 'real'))
    .replace(/: real (.*), ours (.*)$/, ': real $2, ours $1');
}
