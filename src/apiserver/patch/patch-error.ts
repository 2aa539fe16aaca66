import type { StatusDetails, StatusReason } from '../../kube/api/meta.ts';

/** A patch that cannot be applied, with the contents of the Status that the server returns. */
export class PatchError extends Error {
  readonly code: 400 | 413 | 422 | 500;
  readonly reason: StatusReason | undefined;
  readonly details: StatusDetails | undefined;

  constructor(
    code: PatchError['code'],
    reason: StatusReason | undefined,
    message: string,
    details?: StatusDetails,
  ) {
    super(message);
    this.name = 'PatchError';
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

/** The patch is not valid as a patch. */
export function malformedPatch(message: string): PatchError {
  return new PatchError(400, 'BadRequest', message);
}

/** The patch does not fit the object. Kubernetes does not say why: its message is always this one. */
export function inapplicablePatch(): PatchError {
  return new PatchError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** Kubernetes does not map these errors to a reason: clients receive an internal error with the message. */
export function failedPatch(message: string): PatchError {
  return new PatchError(500, undefined, message);
}

export function oversizedPatch(message: string): PatchError {
  return new PatchError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);
}
