import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { claimClassName } from '../../kube/volumes.ts';
import { type EventRecorder, referenceTo } from '../../reconcile/event-recorder.ts';

/** Events about claims, in the words of external-provisioner where it has some. */
export class ClaimEvents {
  readonly #events: EventRecorder;

  constructor(events: EventRecorder) {
    this.#events = events;
  }

  provisioning(claim: PersistentVolumeClaim): void {
    const { namespace, name } = claim.metadata ?? {};
    const note = `External provisioner is provisioning volume for claim "${namespace}/${name}"`;
    this.#record(claim, 'Normal', 'Provisioning', note);
  }

  succeeded(claim: PersistentVolumeClaim, volumeName: string): void {
    this.#record(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${volumeName}`);
  }

  /** The reason alone: an object is missing, or belongs to another claim. */
  refused(claim: PersistentVolumeClaim, note: string): void {
    this.#record(claim, 'Warning', 'ProvisioningFailed', note);
  }

  failed(claim: PersistentVolumeClaim, message: string, reason = 'ProvisioningFailed'): void {
    const note = `failed to provision volume with StorageClass "${claimClassName(claim)}": ${message}`;
    this.#record(claim, 'Warning', reason, note);
  }

  /** The driver chose another place than that of the selected node. The volume stays: it is what the claim asked for. */
  createdElsewhere(claim: PersistentVolumeClaim, volumeName: string, nodeName: string): void {
    const note =
      `node "${nodeName}" was selected, and the driver created volume ${volumeName} where that node cannot reach it, so the pod has to run elsewhere. ` +
      'If it fits no node there, delete pod and claim to have another volume created; --strict-topology keeps new volumes where their node is';
    this.#record(claim, 'Warning', 'VolumeCreatedElsewhere', note);
  }

  notRecorded(claim: PersistentVolumeClaim, message: string): void {
    const { namespace, name } = claim.metadata ?? {};
    const note = `Error creating provisioned PV object for claim ${namespace}/${name}: ${message}`;
    this.#record(claim, 'Warning', 'ProvisioningFailed', note);
  }

  notUndone(claim: PersistentVolumeClaim, message: string): void {
    const note = `failed to remove the volume that was being created for this claim: ${message}`;
    this.#record(claim, 'Warning', 'ProvisioningCleanupFailed', note);
  }

  #record(claim: PersistentVolumeClaim, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    this.#events.record({ regarding, type, reason, action: 'Provisioning', note });
  }
}
