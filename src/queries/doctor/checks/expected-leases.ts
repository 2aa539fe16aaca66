import type { Container, Pod } from '../../../kube/api/core.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { listOf, textOf } from '../../../kube/wire.ts';
import { electionName, leaseKeyOf } from '../../../reconcile/leases/component-lease.ts';
import type { Check, Found } from '../check.ts';
import { type ClusterFacts, factValue } from '../facts.ts';

/** A process that may write its Lease has it seconds after it is ready. */
const electionMsMax = 60_000;

/** An agent has a Lease for its node, if any. */
const withoutFixedLease: ReadonlySet<string> = new Set(['none', 'disk-agent']);

export const expectedLeaseChecks: readonly Check[] = [
  { subject: 'the Leases of ready pods', needs: ['ownPods', 'leases'], find: missingFindings },
];

/** A process is ready on standby, too. So pods can be ready although none of them could ever create its Lease, and their controllers do nothing. */
function missingFindings({ lists, nowMs }: ClusterFacts): readonly Found[] {
  const existing = factValue(lists.leases).map(({ metadata }) => textOf(metadata?.name));
  const missing = new Map<string, { readonly controller: string; readonly pods: string[] }>();
  for (const pod of factValue(lists.ownPods)) {
    if (!isLongReady(pod, nowMs)) continue;
    for (const { controller, lease, isPrefix } of expectedLeases(pod)) {
      const isThere = existing.some((name) => name === lease || (isPrefix && name.startsWith(`${lease}-`)));
      if (isThere) continue;
      const known = missing.get(lease) ?? { controller, pods: [] };
      known.pods.push(`${textOf(pod.metadata?.namespace)}/${textOf(pod.metadata?.name)}`);
      missing.set(lease, known);
    }
  }
  return [...missing].map(
    ([
      name,
      {
        controller,
        pods: [first, ...others],
      },
    ]) => {
      const more = others.length === 0 ? '' : `, and ${others.length} more,`;
      return {
        code: 'LeaseMissing',
        object: { kind: 'Lease', namespace: leaseKeyOf('').namespace, name },
        detail: `does not exist, and pod ${first}${more} should have created it for the controller ${controller}`,
      };
    },
  );
}

function isLongReady({ metadata, status }: Pod, nowMs: number): boolean {
  const ready = getCondition(status?.conditions, 'Ready');
  if (metadata?.deletionTimestamp !== undefined || ready?.status !== 'True') return false;
  const sinceMs = parseTimestamp(ready.lastTransitionTime) ?? parseTimestamp(metadata?.creationTimestamp);
  return sinceMs !== undefined && nowMs - sinceMs >= electionMsMax;
}

interface ExpectedLease {
  readonly controller: string;
  readonly lease: string;
  /** A configuration file, which is not read here, may have a suffix. */
  readonly isPrefix: boolean;
}

/** The Leases that a pod is a candidate for, by the command lines of its containers. */
function expectedLeases({ metadata, spec }: Pod): readonly ExpectedLease[] {
  const component = textOf(metadata?.labels?.['app.kubernetes.io/component']);
  return listOf(spec?.containers).flatMap((container) => leasesOf(container, component));
}

function leasesOf({ command, args }: Container, component: string): readonly ExpectedLease[] {
  const words = [...listOf(command), ...listOf(args)].map(textOf);
  const at = words.findIndex((word) => word === 'run' || word === 'csi');
  const flags = words.slice(at + 1);
  if (words[at] === 'csi') {
    const services = flagValue(flags, 'services') ?? 'controller,node';
    return services.split(',').includes('controller') ? [expected('drives', undefined, false)] : [];
  }
  const isElected = flagValue(flags, 'leader-elect') !== 'false' && !flags.includes('--node-deployment');
  if (words[at] !== 'run' || !isElected) return [];
  const hasFile = flagValue(flags, 'config') !== undefined;
  // A file may name other controllers, unless the pod is a scheduler. A scheduler has a Lease even without an election.
  const byDefault = hasFile && component !== 'scheduler' ? 'none' : 'scheduler';
  return (flagValue(flags, 'controllers') ?? byDefault)
    .split(',')
    .filter((name) => /^[a-z]/.test(name) && !withoutFixedLease.has(name))
    .map((name) => expected(name, flagValue(flags, 'lease-suffix'), hasFile));
}

function expected(controller: string, suffix: string | undefined, isPrefix: boolean): ExpectedLease {
  return { controller, lease: leaseKeyOf(electionName(controller, suffix)).name, isPrefix };
}

/** The value of `--name=value` or `--name value`. */
function flagValue(flags: readonly string[], name: string): string | undefined {
  const at = flags.findIndex((flag) => flag === `--${name}` || flag.startsWith(`--${name}=`));
  const flag = flags[at];
  if (flag === undefined) return undefined;
  return flag === `--${name}` ? flags[at + 1] : flag.slice(name.length + 3);
}
