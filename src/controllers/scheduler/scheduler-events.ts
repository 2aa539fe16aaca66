import type { ClaimBinding, Provision } from '../../engine/rules/framework/decisions.ts';
import type { EventType, Pod } from '../../kube/api/core.ts';
import { type EventRecorder, referenceTo } from '../../reconcile/event-recorder.ts';
import { reportingControllerFor } from '../../reconcile/leases/scheduler-names.ts';

const podType = { apiVersion: 'v1', kind: 'Pod' };

/** The events about pods. Those that kube-scheduler has too have its reasons and texts, because users and tools know them. */
export class SchedulerEvents {
  readonly #events: EventRecorder;

  constructor(events: EventRecorder) {
    this.#events = events;
  }

  scheduled(pod: Pod, nodeName: string): void {
    const { namespace, name } = pod.metadata ?? {};
    const note = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
    this.#record(pod, { type: 'Normal', reason: 'Scheduled', action: 'Binding', note });
  }

  failedScheduling(pod: Pod, note: string): void {
    this.#record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note });
  }

  /** The pod has its node, and provisioners take long to create its volumes. The events of the claims show their errors. */
  waitingForProvisioner(pod: Pod, waiting: readonly Provision[], nodeName: string): void {
    const claims = waiting.map(({ claim, driver }) => `claim ${claim} waits for provisioner ${driver}`);
    const volumes = claims.length === 1 ? 'a volume' : 'their volumes';
    const note =
      `${claims.join(', ')} to create ${volumes} for node ${nodeName}. ` +
      'If this persists, check that the provisioner is running, and see the events of the claim';
    this.#record(pod, { type: 'Normal', reason: 'WaitingForProvisioner', action: 'Binding', note });
  }

  /** The binding failed after these volumes were bound, and Kubernetes has no way to undo that. */
  bindingsKept(pod: Pod, kept: readonly ClaimBinding[]): void {
    const pairs = kept.map(({ claim, volume }) => `claim ${claim} stays bound to volume ${volume}`);
    const note =
      `${pairs.join(', ')}: the binding was complete before it could be undone. The pod can only run where that volume is; ` +
      'if it does not fit there, free capacity on that node, or delete the claim to start over';
    this.#record(pod, { type: 'Warning', reason: 'VolumesKept', action: 'Binding', note });
  }

  /** The pod fits no node, and its own volumes exclude nodes that would fit otherwise. */
  constrainedByVolumes(pod: Pod, constraints: readonly string[]): void {
    const note = `${constraints.join(', ')}; this can't be undone without losing data that may be on the volume. Free capacity there, or delete the claim to start over`;
    this.#record(pod, { type: 'Warning', reason: 'VolumesPinPod', action: 'Scheduling', note });
  }

  /** A pod that was created with a node is not scheduled, so its claims that wait for the scheduler stay unbound. */
  claimsNotBound(pod: Pod, claims: readonly string[]): void {
    const note =
      `the pod was created with spec.nodeName, so the claims ${claims.join(', ')} stay unbound: they wait for the scheduler. ` +
      'Use spec.nodeSelector or node affinity instead of spec.nodeName, or annotate the pod with stowage.dev/bind-claims: "true"';
    this.#record(pod, { type: 'Warning', reason: 'ClaimsNotBound', action: 'Scheduling', note });
  }

  #record(pod: Pod, event: { type: EventType; reason: string; action: string; note: string }): void {
    this.#events.record({ regarding: referenceTo(pod, podType), ...event, ...reportingControllerFor(pod) });
  }
}
