import type { GrpcErrorCode } from './grpc-codes.ts';
import { type CallKind, outcomeOf, type RpcOutcome } from './rpc-outcomes.ts';

/** The call that failed. */
export interface FailedCall {
  /** The driver's name; its address while the name is unknown. */
  readonly driver: string;
  /** Such as `CreateVolume`. */
  readonly method: string;
  readonly kind: CallKind;
}

/** A CSI call failed. `outcome` says what that means; messages contain no secrets. */
export abstract class CsiError extends Error {
  readonly driver: string;
  readonly method: string;
  abstract readonly outcome: RpcOutcome;

  constructor({ driver, method }: FailedCall, problem: string, options?: ErrorOptions) {
    super(`CSI driver ${driver}: ${method}: ${problem}`, options);
    this.driver = driver;
    this.method = method;
  }
}

/** The driver, or the connection to it, returned a code. */
export class CsiCallError extends CsiError {
  override readonly name = 'CsiCallError';
  readonly code: GrpcErrorCode;
  readonly outcome: RpcOutcome;
  /** The driver's own text; may be empty. */
  readonly details: string;
  /** Whether the request may have reached the driver. An earlier request with the same name may have, in any case. */
  readonly sent: boolean;

  constructor(call: FailedCall, code: GrpcErrorCode, details: string, { sent }: { readonly sent: boolean }) {
    super(call, `${code}: ${details === '' ? 'the driver gave no reason' : details}`);
    this.code = code;
    this.details = details;
    this.sent = sent;
    this.outcome = outcomeOf(code, call.kind);
  }
}

/**
 * The driver succeeded, and its reply is not what CSI allows. What it made exists: the caller repeats the call, or deletes what
 * `reply` names.
 */
export class CsiReplyError extends CsiError {
  override readonly name = 'CsiReplyError';
  /** Path of the invalid field as in csi.proto, such as `volume.volume_id`; empty if the reply is not a message at all. */
  readonly field: string;
  /** The reply, where it could be decoded. */
  readonly reply: unknown;
  readonly outcome: RpcOutcome;

  constructor(
    call: FailedCall,
    field: string,
    problem: string,
    { reply, cause }: { readonly reply?: unknown; readonly cause?: unknown } = {},
  ) {
    super(call, `invalid reply: ${field === '' ? problem : `${field}: ${problem}`}`, { cause });
    this.field = field;
    this.reply = reply;
    this.outcome = { effect: call.kind === 'read' ? 'none' : 'unknown', next: 'retry' };
  }
}

/** A message was larger than one side accepts. gRPC reports it as ResourceExhausted, which for CSI means "no capacity". */
export class CsiMessageSizeError extends CsiError {
  override readonly name = 'CsiMessageSizeError';
  readonly outcome: RpcOutcome;

  constructor(call: FailedCall, details: string) {
    super(call, `a message was too large: ${details}`);
    this.outcome = { effect: call.kind === 'read' ? 'none' : 'unknown', next: 'change' };
  }
}

/** Another driver answers at the address. */
export class CsiDriverNameError extends Error {
  override readonly name = 'CsiDriverNameError';

  constructor(address: string, before: string, now: string) {
    super(
      `the CSI driver at ${address} was ${before} and now calls itself ${now}; start ${before} there again, or restart Stowage to use ${now}`,
    );
  }
}

/** A service throws this to respond with its code. Any other error becomes Internal. */
export class CsiStatusError extends Error {
  override readonly name = 'CsiStatusError';
  readonly code: GrpcErrorCode;

  constructor(code: GrpcErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
