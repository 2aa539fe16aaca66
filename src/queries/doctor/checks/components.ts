import type { Lease } from '../../../kube/api/coordination.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { listOf, textOf } from '../../../kube/wire.ts';
import { announcementOf } from '../../../reconcile/leases/component-lease.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, type Fact, factItems, factValue, type ServerClock } from '../facts.ts';
import { serverNowMs } from './clocks.ts';

/** A pod that was just started is not ready yet. */
const startMsMax = 120_000;
/** A container that was restarted so often does not run steadily. */
const restartsMax = 5;

export const componentChecks: readonly Check[] = [
  { subject: 'the Leases of components', needs: ['leases'], find: leaseFindings },
  { subject: 'the versions of components', needs: ['leases'], find: versionFindings },
  { subject: 'the feature gates of components', needs: ['leases'], find: gateFindings },
  { subject: 'the pods of components', needs: ['ownPods'], find: podFindings },
];

/** The Leases of our own controllers. */
export function componentLeases({ lists }: ClusterFacts): readonly Lease[] {
  return factItems(lists.leases).filter(({ metadata }) => textOf(metadata?.name).startsWith('stowage-'));
}

/** `running`: a process renews the Lease. `stopped`: it was released, or never had a holder and is not renewed. `gone`: its holder does not renew it. */
export type LeaseState = 'running' | 'stopped' | 'gone';

export function leaseState({ spec }: Lease, clock: Fact<ServerClock>, nowMs: number): LeaseState {
  const renewedMs = parseTimestamp(spec?.renewTime);
  const durationMs = (spec?.leaseDurationSeconds ?? 0) * 1000;
  const now = 'value' in clock ? serverNowMs(clock.value, nowMs) : nowMs;
  // A released Lease has a duration of a second and no holder.
  const isFresh = renewedMs !== undefined && durationMs > 1_000 && now - renewedMs <= durationMs;
  if (isFresh) return 'running';
  return textOf(spec?.holderIdentity) === '' ? 'stopped' : 'gone';
}

function leaseFindings(facts: ClusterFacts): readonly Found[] {
  return componentLeases(facts).flatMap((lease) => {
    const state = leaseState(lease, facts.clock, facts.nowMs);
    return state === 'running' ? [] : [notRunning(lease, state)];
  });
}

function notRunning(lease: Lease, state: 'stopped' | 'gone'): Found {
  const object = objectOf('Lease', lease);
  const renewed = textOf(lease.spec?.renewTime) || 'never';
  if (state === 'stopped')
    return { code: 'NoLeader', object, detail: `has no holder; last renewed: ${renewed}` };
  const holder = textOf(lease.spec?.holderIdentity);
  return { code: 'LeaderGone', object, detail: `${holder} has not renewed it since ${renewed}` };
}

function versionFindings(facts: ClusterFacts): readonly Found[] {
  return componentLeases(facts).flatMap((lease) => {
    const { version } = announcementOf(lease);
    if (version === '' || version === facts.version) return [];
    const detail = `its holder is version ${version}, this program ${facts.version}`;
    return [{ code: 'ComponentVersionsDiffer', object: objectOf('Lease', lease), detail } as const];
  });
}

function gateFindings(facts: ClusterFacts): readonly Found[] {
  const known = new Map<string, { readonly isOn: boolean; readonly lease: string }>();
  const found: Found[] = [];
  for (const lease of componentLeases(facts)) {
    const name = textOf(lease.metadata?.name);
    for (const [gate, isOn] of Object.entries(announcementOf(lease).gates)) {
      const first = known.get(gate);
      if (first === undefined) known.set(gate, { isOn, lease: name });
      else if (first.isOn !== isOn) {
        const detail = `${gate}=${isOn}, and ${gate}=${first.isOn} in ${first.lease}`;
        found.push({ code: 'ComponentGatesDiffer', object: objectOf('Lease', lease), detail });
      }
    }
  }
  return found;
}

function podFindings({ lists, nowMs }: ClusterFacts): readonly Found[] {
  return factValue(lists.ownPods).flatMap((pod) => {
    const trouble = troubleOf(pod, nowMs);
    if (trouble === undefined) return [];
    return [{ code: 'ComponentNotReady', object: objectOf('Pod', pod), detail: trouble } as const];
  });
}

function troubleOf({ metadata, status }: Pod, nowMs: number): string | undefined {
  if (metadata?.deletionTimestamp !== undefined || status?.phase === 'Succeeded') return undefined;
  const containers = [...listOf(status?.initContainerStatuses), ...listOf(status?.containerStatuses)];
  const waiting = containers.find(({ state }) => /BackOff|Err|Invalid/.test(textOf(state?.waiting?.reason)));
  if (waiting !== undefined)
    return `container ${waiting.name}: ${textOf(waiting.state?.waiting?.reason)} ${textOf(waiting.state?.waiting?.message)}`.trim();
  const restarted = containers.find(({ restartCount = 0 }) => restartCount > restartsMax);
  if (restarted !== undefined)
    return `container ${restarted.name} was restarted ${restarted.restartCount} times`;
  const createdMs = parseTimestamp(metadata?.creationTimestamp) ?? nowMs;
  const ready = getCondition(status?.conditions, 'Ready');
  if (ready?.status === 'True' || nowMs - createdMs < startMsMax) return undefined;
  return `is not ready: ${textOf(ready?.message) || textOf(ready?.reason) || textOf(status?.phase)}`;
}
