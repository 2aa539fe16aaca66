import { ApiError } from '../../kube/api-error.ts';
import { CliError } from './cli-error.ts';

/** The server that a message is about. */
export interface AskedServer {
  readonly server: string;
  /** Where its address comes from. */
  readonly source: string;
}

/** The error of a server, with its address and a remedy. */
export function serverError(error: unknown, asked: AskedServer): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 401) return notAccepted(error, asked);
  if (error.code === 403) return refusalError(error, asked);
  return unreadable(error, asked);
}

/** The same for a server that answered and rejected the request. */
export function refusalError(error: unknown, asked: AskedServer): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 401) return notAccepted(error, asked);
  // A server, or a proxy, that does not answer has refused nothing.
  if (error.code >= 500) return unreadable(error, asked);
  const { server, source } = asked;
  if (error.code !== 403)
    return new CliError(`${server} refuses the request: ${error.message}`, 1, { cause: error });
  const remedy = 'ask for this right, or choose another user with --kubeconfig or --context';
  return new CliError(`the user of ${source} lacks a right: ${error.message}; ${remedy}`, 1, {
    cause: error,
  });
}

function unreadable(error: ApiError, { server, source }: AskedServer): CliError {
  const text = `cannot read from ${server} (${source}): ${error.message}`;
  return new CliError(`${text}; check that the server runs and that this is the right cluster`, 1, {
    cause: error,
  });
}

function notAccepted(error: ApiError, { server, source }: AskedServer): CliError {
  // An error with a cause did not come from the server: a file is missing, or a plugin failed.
  const text =
    error.cause === undefined
      ? `${server} does not accept the credentials of ${source}: ${error.message}`
      : `there are no credentials for ${server} in ${source}: ${error.message}`;
  const remedy = 'log in again, or choose another user with --kubeconfig or --context';
  return new CliError(`${text}; ${remedy}`, 1, { cause: error });
}
