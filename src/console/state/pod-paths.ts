import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { isFullyBound } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { listOf } from '../../kube/wire.ts';
import type { PathStep, PodPath, SeenSteps } from '../wire/answers.ts';

/** Pods whose steps are remembered; the oldest are forgotten first, and their times come from the objects then. */
const podsRememberedMax = 20_000;

/** Everything that a pod's path is read from. */
export interface PathObjects {
  readonly pod: Pod;
  /** Those that exist. */
  readonly claims: readonly PersistentVolumeClaim[];
  /** How many the pod names. */
  readonly claimCount: number;
  /** For each claim, whether a volume names it. */
  readonly isHeld: readonly boolean[];
}

/**
 * The path of each pod: created, claims, decision, reservation, binding, assigned, running. Kubernetes stores times in whole seconds, and
 * not for every step; so the moments are recorded when this process sees them.
 */
export class PodPaths {
  /** Paths by the uid of the pod, oldest first. */
  readonly #seen = new Map<string, SeenSteps>();

  /** Call it with every change of a pod or its claims. `isFirstLook` is true while the existing objects are read. */
  observe(objects: PathObjects, nowMs: number, isFirstLook: boolean): void {
    const uid = objects.pod.metadata?.uid ?? '';
    const seen: { -readonly [Step in keyof SeenSteps]: SeenSteps[Step] } = { ...this.#seen.get(uid) };
    const state = stateOf(objects);
    const mark = (step: keyof SeenSteps, isDone: boolean) => {
      // What was done before the first look has no known moment.
      if (isDone && seen[step] === undefined) seen[step] = isFirstLook ? Number.NaN : nowMs;
    };
    mark('decisionMs', state.isDecided);
    mark('reservationMs', state.isReserved);
    mark('bindingMs', state.isBound);
    mark('assignedMs', state.isAssigned);
    mark('runningMs', state.isRunning);
    this.#remember(uid, seen);
  }

  forget(uid: string): void {
    this.#seen.delete(uid);
  }

  /** The moments that this process saw; undefined if it saw none. */
  seenStepsOf(uid: string): SeenSteps | undefined {
    const known = Object.entries(this.#seen.get(uid) ?? {}).filter(([, atMs]) => !Number.isNaN(atMs));
    return known.length === 0 ? undefined : Object.fromEntries(known);
  }

  /** Moments that another process saw. */
  restore(steps: Readonly<Record<string, SeenSteps>>): void {
    for (const [uid, seen] of Object.entries(steps)) this.#remember(uid, seen);
  }

  pathOf(objects: PathObjects): PodPath {
    const { pod, claims, claimCount } = objects;
    const seen = this.#seen.get(pod.metadata?.uid ?? '') ?? {};
    const state = stateOf(objects);
    const stored = storedTimes(pod);
    const created = parseTimestamp(pod.metadata?.creationTimestamp);
    const withoutClaims = claimCount === 0 ? 'the pod uses no claim' : undefined;
    const step = (
      name: PathStep['name'],
      isDone: boolean,
      text: string,
      times: { readonly seen?: number | undefined; readonly stored?: number | undefined },
    ): PathStep => {
      const isExact = isDone && times.seen !== undefined && !Number.isNaN(times.seen);
      return {
        name,
        isDone,
        isExact,
        text,
        atMs: isDone ? (isExact ? times.seen : times.stored) : undefined,
      };
    };
    const claimTimes = claims.flatMap(({ metadata }) => parseTimestamp(metadata?.creationTimestamp) ?? []);
    return {
      steps: [
        step('Created', true, 'the pod exists', { stored: created }),
        step('Claims', claims.length === claimCount, withoutClaims ?? claimsText(claims.length, claimCount), {
          stored: claimTimes.length === 0 ? created : Math.max(...claimTimes),
        }),
        step(
          'Decision',
          state.isDecided,
          state.isDecided ? `node ${state.node || 'chosen'}` : 'no node yet',
          {
            seen: seen.decisionMs,
            stored: stored.scheduledMs,
          },
        ),
        step(
          'Reservation',
          state.isReserved,
          withoutClaims ?? reservedText(state.reservedCount, claimCount),
          {
            seen: seen.reservationMs,
            stored: stored.scheduledMs,
          },
        ),
        step('Binding', state.isBound, withoutClaims ?? boundText(state.boundCount, claimCount), {
          seen: seen.bindingMs,
          stored: stored.scheduledMs,
        }),
        step('Assigned', state.isAssigned, pod.spec?.nodeName ? `to ${pod.spec.nodeName}` : 'not yet', {
          seen: seen.assignedMs,
          stored: stored.scheduledMs,
        }),
        step(
          'Running',
          state.isRunning,
          state.isRunning ? 'its containers run' : (pod.status?.phase ?? 'Pending'),
          {
            seen: seen.runningMs,
            stored: stored.runningMs,
          },
        ),
      ],
    };
  }

  #remember(uid: string, seen: SeenSteps): void {
    this.#seen.set(uid, seen);
    if (this.#seen.size <= podsRememberedMax) return;
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) this.forget(oldest);
  }
}

function stateOf({ pod, claims, claimCount, isHeld }: PathObjects) {
  const isAssigned = Boolean(pod.spec?.nodeName);
  const selected = claims.map(({ metadata }) => metadata?.annotations?.[annotations.selectedNode]);
  const isReservedEach = claims.map(
    (claim, at) => Boolean(selected[at]) || isHeld[at] === true || isFullyBound(claim),
  );
  const reservedCount = isReservedEach.filter(Boolean).length;
  const boundCount = claims.filter(isFullyBound).length;
  const isRunning = pod.status?.phase === 'Running' || pod.status?.phase === 'Succeeded';
  return {
    node: pod.spec?.nodeName ?? selected.find(Boolean) ?? '',
    // A claim that was bound before says nothing about this pod's node.
    isDecided: isAssigned || selected.some((node, at) => node && !isFullyBound(claims[at]!)),
    isReserved: (claimCount > 0 || isAssigned) && reservedCount === claimCount,
    isBound: (claimCount > 0 || isAssigned) && boundCount === claimCount,
    isAssigned,
    isRunning,
    reservedCount,
    boundCount,
  };
}

function storedTimes(pod: Pod): {
  readonly scheduledMs: number | undefined;
  readonly runningMs: number | undefined;
} {
  const scheduled = listOf(pod.status?.conditions).find(
    ({ type, status }) => type === 'PodScheduled' && status === 'True',
  );
  const started = listOf(pod.status?.containerStatuses).flatMap(
    ({ state }) => parseTimestamp(state?.running?.startedAt ?? state?.terminated?.startedAt) ?? [],
  );
  return {
    scheduledMs: parseTimestamp(scheduled?.lastTransitionTime),
    runningMs: started.length > 0 ? Math.max(...started) : parseTimestamp(pod.status?.startTime),
  };
}

function claimsText(existing: number, count: number): string {
  return `${existing} of ${count} claims exist`;
}

function reservedText(reserved: number, count: number): string {
  return `${reserved} of ${count} claims have their bytes or volume`;
}

function boundText(bound: number, count: number): string {
  return `${bound} of ${count} claims are bound`;
}
