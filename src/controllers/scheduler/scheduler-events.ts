import type { ClaimBinding } from '../../engine/rules/framework/decisions.ts';
import type { EventType, Pod } from '../../kube/api/core.ts';
import { type EventRecorder, referenceTo } from '../../reconcile/event-recorder.ts';

const podType = { apiVersion: 'v1', kind: 'Pod' };

/** What people hear about their pods, in the words that they and their tools know from kube-scheduler. */
export class SchedulerEvents {
  readonly #events: EventRecorder;

  constructor(events: EventRecorder) {
    this.#events = events;
  }

  scheduled(pod: Pod, nodeName: string): void {
    const { namespace, name } = pod.metadata ?? {};
    const note = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
    this.#tell(pod, { type: 'Normal', reason: 'Scheduled', action: 'Binding', note });
  }

  failedScheduling(pod: Pod, note: string): void {
    this.#tell(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note });
  }

  /** The placement failed halfway, and Kubernetes has no way back for these. */
  bindingsKept(pod: Pod, kept: readonly ClaimBinding[]): void {
    const pairs = kept.map(({ claim, volume }) => `claim ${claim} stays bound to volume ${volume}`);
    const note =
      `${pairs.join(', ')}: the binding was complete before it could be undone. The pod can only run where that volume is; ` +
      'if it does not fit there, make room on that node, or delete the claim to start over';
    this.#tell(pod, { type: 'Warning', reason: 'VolumesKept', action: 'Binding', note });
  }

  /** The pod fits nowhere, and it is its own volumes that keep it from everywhere else. */
  constrainedByVolumes(pod: Pod, pins: readonly string[]): void {
    const note = `${pins.join(', ')}; this can't be undone without losing what may be on it. Make room there, or delete the claim to start over`;
    this.#tell(pod, { type: 'Warning', reason: 'VolumesPinPod', action: 'Scheduling', note });
  }

  /** A pod that was created with a node never meets the scheduler, which binds claims that wait for it. */
  claimsNotBound(pod: Pod, claims: readonly string[]): void {
    const note =
      `the pod was created with spec.nodeName, so nobody binds ${claims.join(', ')}, which wait for the scheduler. ` +
      'Use spec.nodeSelector or node affinity instead of spec.nodeName, or annotate the pod with stowage.dev/bind-claims: "true"';
    this.#tell(pod, { type: 'Warning', reason: 'ClaimsNotBound', action: 'Scheduling', note });
  }

  #tell(pod: Pod, happening: { type: EventType; reason: string; action: string; note: string }): void {
    this.#events.record({ regarding: referenceTo(pod, podType), ...happening });
  }
}
