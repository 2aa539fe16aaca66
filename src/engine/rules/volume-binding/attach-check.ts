import type { Cycle } from '../framework/cycle.ts';
import { AttachDemand, limitsAnything } from '../volume-limits/attach-demand.ts';
import type { ClaimRequest, VolumeNeeds } from './needs.ts';
import { bit } from './verdict-bits.ts';

/** The volume that a request gets: its row, or -1 for a new volume. */
export interface ChosenVolume {
  readonly request: ClaimRequest;
  readonly row: number;
}

/** Checks attach limits with the volumes that a plan would actually use. */
export class AttachCheck {
  readonly #cycle: Cycle;
  readonly #needs: VolumeNeeds;
  /** Undefined if nothing is limited. */
  readonly #tightestSlots: Int32Array | undefined;
  readonly #volumesAtMost: number;

  constructor(cycle: Cycle, needs: VolumeNeeds) {
    const { index, pod } = cycle;
    this.#cycle = cycle;
    this.#needs = needs;
    const isNeeded = index.profile.limitChosenVolumes && limitsAnything(index);
    this.#tightestSlots = isNeeded ? index.attachments.tightestSlots() : undefined;
    // If a driver must be installed, the check is needed however many slots there are.
    this.#volumesAtMost = index.hasRequiredDrivers
      ? Number.POSITIVE_INFINITY
      : needs.bound.length + needs.requests.length + pod.migratedVolumes.length;
  }

  /** Whether there are enough slots for every driver, so that the drivers of the pod's volumes do not matter. */
  hasEnoughSlots(node: number): boolean {
    return this.#tightestSlots === undefined || this.#volumesAtMost <= this.#tightestSlots[node]!;
  }

  /** The obstacles to attaching these volumes in addition to those that the pod already has, as verdict bits. */
  obstacles(node: number, chosen: readonly ChosenVolume[]): number {
    const nodeName = this.#cycle.index.nodes.record(node)!.key;
    const demand = this.demand(node, chosen);
    const missing = demand.missingDriver(nodeName);
    if (missing !== undefined) this.#cycle.note(node, missing);
    return (
      (demand.shortage(nodeName) === undefined ? 0 : bit.AttachLimitReached) |
      (missing === undefined ? 0 : bit.DriverNotInstalled)
    );
  }

  demand(node: number, chosen: readonly ChosenVolume[]): AttachDemand {
    const { index, pod } = this.#cycle;
    const { attachments, volumes, nodes } = index;
    const nodeName = nodes.record(node)!.key;
    const demand = new AttachDemand(index);
    for (const { row } of this.#needs.bound) {
      if (row !== undefined) demand.add(attachments.volumeOnNode(volumes.record(row), nodeName));
    }
    for (const inline of attachments.inlineVolumes(pod, nodeName)) demand.add(inline);
    for (const { request, row } of chosen) {
      if (row >= 0) demand.add(attachments.volumeOnNode(volumes.record(row), nodeName));
      else if (request.claim !== undefined)
        demand.add(attachments.unprovisionedVolume(request.claim, nodeName));
    }
    return demand;
  }
}
