import type { GrpcErrorCode } from './grpc-codes.ts';

/** Kinds of calls; the meaning of a code depends on the kind. */
export type CallKind = 'create' | 'delete' | 'publish' | 'unpublish' | 'expand' | 'modify' | 'read';

/** What a failed call means for the caller. */
export interface RpcOutcome {
  /**
   * `none`: the driver has ended the operation and made nothing. `unknown`: it may have completed it, or may still be working on it.
   * The caller must repeat the call with the same name and arguments until the answer is certain, else a volume could leak.
   */
  readonly effect: 'none' | 'unknown';
  /**
   * - `retry-soon`: the driver is busy or away for a moment; repeat after the shortest delay.
   * - `retry`: repeat with back-off.
   * - `move`: no capacity here; choose another topology segment, or repeat with back-off where there is no choice.
   * - `change`: the answer stays the same until the request or the volume changes; repeat only at the longest interval.
   */
  readonly next: 'retry-soon' | 'retry' | 'move' | 'change';
}

/** What a code means for a kind of call. External-provisioner, external-resizer and external-attacher act the same way. */
export function outcomeOf(code: GrpcErrorCode, kind: CallKind): RpcOutcome {
  const { effect, next, except = {} } = outcomes[code];
  const { effect: exceptionalEffect = effect, next: exceptionalNext = next } = except[kind] ?? {};
  return { effect: kind === 'read' ? 'none' : exceptionalEffect, next: exceptionalNext };
}

interface CodeMeaning extends RpcOutcome {
  /** Kinds of calls for which the code means something else. */
  readonly except?: { readonly [Kind in CallKind]?: Partial<RpcOutcome> };
}

/** Every effect but `unknown` means that nothing was created: "operation pending" has its own code (Aborted). */
const outcomes: Readonly<Record<GrpcErrorCode, CodeMeaning>> = {
  /** The caller cancelled the call; the driver may not have noticed. */
  Canceled: { effect: 'unknown', next: 'retry' },
  DeadlineExceeded: { effect: 'unknown', next: 'retry' },
  /** The connection broke, or the driver is shutting down. */
  Unavailable: { effect: 'unknown', next: 'retry-soon' },
  /** CSI: another operation for this volume is pending. */
  Aborted: { effect: 'unknown', next: 'retry-soon' },
  /**
   * CSI for CreateVolume: no capacity in this topology. For other calls CSI gives the code no meaning, so it is gRPC's own: the server
   * is out of resources for now. An oversized message never gets here: it is a `CsiMessageSizeError`.
   */
  ResourceExhausted: {
    effect: 'unknown',
    next: 'retry',
    except: { create: { effect: 'none', next: 'move' } },
  },
  InvalidArgument: { effect: 'none', next: 'change' },
  /** CSI: the name is in use for a volume with other properties. */
  AlreadyExists: { effect: 'none', next: 'change' },
  /** CSI: no volume of this size can exist anywhere. */
  OutOfRange: { effect: 'none', next: 'change' },
  Unimplemented: { effect: 'none', next: 'change' },
  /** A source or a volume that does not exist. A source may still appear; a volume to expand or modify will not. */
  NotFound: {
    effect: 'none',
    next: 'retry',
    except: { expand: { next: 'change' }, modify: { next: 'change' } },
  },
  /** CSI: the volume is in use, or has snapshots; that can end without a change of the request. */
  FailedPrecondition: { effect: 'none', next: 'retry' },
  /** Secrets and permissions can be corrected without a change of the request. */
  PermissionDenied: { effect: 'none', next: 'retry' },
  Unauthenticated: { effect: 'none', next: 'retry' },
  Unknown: { effect: 'none', next: 'retry' },
  Internal: { effect: 'none', next: 'retry' },
  DataLoss: { effect: 'none', next: 'retry' },
};
