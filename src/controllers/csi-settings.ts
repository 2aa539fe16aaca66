/** How this process serves CSI drivers. */
export interface CsiSettings {
  /** Where their controller services listen: `unix:///path` each. */
  readonly addresses: readonly string[];
  /** The deadline of each call. */
  readonly timeoutMs: number;
}
