import { CsiStatusError } from '../../csi/csi-errors.ts';
import { ApiError } from '../../kube/api-error.ts';
import { messageOf } from '../../runtime/error-message.ts';

/**
 * The answer to a call whose request to the API server failed. If the request may have taken effect, the code obliges the caller to repeat the
 * call; a rejected request has had none.
 */
export function apiFailure(error: unknown): CsiStatusError {
  if (error instanceof CsiStatusError) return error;
  const isRejected = error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;
  const code = isRejected ? 'Internal' : 'Unavailable';
  return new CsiStatusError(code, `the API server: ${messageOf(error)}`, { cause: error });
}
