import type { CapacitySettings } from './capacity/capacity-settings.ts';

/** How this process serves CSI drivers. */
export interface CsiSettings {
  /** Where their controller services listen: `unix:///path` each. */
  readonly addresses: readonly string[];
  /** The deadline of each call. */
  readonly timeoutMs: number;
  /** The node whose driver this process serves, if there is one such process for each node; undefined: the driver serves all nodes. */
  readonly nodeName?: string | undefined;
  /** How the drivers' capacity is published, where that differs from the defaults. */
  readonly capacity?: Partial<CapacitySettings> | undefined;
}
