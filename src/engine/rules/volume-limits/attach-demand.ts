import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { CsiVolume } from '../../records/volume-record.ts';
import type { Finding } from '../framework/finding.ts';

/**
 * Volumes that a pod needs on a node, compared with what the node can still attach. A volume that is already attached there needs no
 * slot.
 */
export class AttachDemand {
  readonly #index: ClusterIndex;
  readonly #byDriver = new Map<string, Set<string>>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  add(volume: CsiVolume | undefined): void {
    if (volume === undefined) return;
    const handles = this.#byDriver.get(volume.driver);
    if (handles === undefined) this.#byDriver.set(volume.driver, new Set([volume.handle]));
    else handles.add(volume.handle);
  }

  /** A driver that requires its node plugin and is not installed on the node; undefined if there is none. */
  missingDriver(nodeName: string): string | undefined {
    if (!this.#index.profile.requireInstalledDriver) return undefined;
    const installed = this.#index.nodes.drivers(nodeName)?.limits;
    for (const driver of this.#byDriver.keys()) {
      if (this.#index.drivers.get(driver)?.refusesNodesWithoutIt === true && installed?.has(driver) !== true)
        return driver;
    }
    return undefined;
  }

  /** The first driver whose volumes don't all fit, with the numbers. */
  shortage(nodeName: string): AttachShortage | undefined {
    const { attachments } = this.#index;
    for (const [driver, handles] of this.#byDriver) {
      const limit = attachments.limit(nodeName, driver);
      if (limit === undefined) continue;
      const costless = attachments.needingNoSlotOn(nodeName).get(driver);
      let needed = 0;
      for (const handle of handles) if (costless?.has(handle) !== true) needed += 1;
      const free = limit - (attachments.attachedOn(nodeName).get(driver)?.size ?? 0);
      if (needed > 0 && needed > free) return { driver, needed, free: Math.max(free, 0) };
    }
    return undefined;
  }
}

interface AttachShortage {
  readonly driver: string;
  readonly needed: number;
  readonly free: number;
}

/** Whether any node or driver of the cluster sets limits; otherwise there is nothing to count. */
export function limitsAnything(index: ClusterIndex): boolean {
  return index.nodes.hasAttachLimits || (index.profile.requireInstalledDriver && index.hasRequiredDrivers);
}

/** Why a node can't attach the volumes, for explanations. */
export function attachFindings(rule: string, demand: AttachDemand, nodeName: string): Finding[] {
  const base = { rule, claim: undefined, candidates: [], omitted: 0 };
  const findings: Finding[] = [];
  const shortage = demand.shortage(nodeName);
  if (shortage !== undefined) {
    const margin = { unit: 'volumes', ...shortage } as const;
    findings.push({ ...base, reason: 'AttachLimitReached', margin });
  }
  if (demand.missingDriver(nodeName) !== undefined)
    findings.push({ ...base, reason: 'DriverNotInstalled', margin: undefined });
  return findings;
}
