import { ApiError } from '../kube/api-error.ts';
import { CliError } from './cli-error.ts';

/** Whom a message is about. */
export interface Asked {
  readonly server: string;
  /** Where we have it from. */
  readonly source: string;
}

/** What a server says, with whom it was asked and what to do. */
export function serverError(error: unknown, asked: Asked): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 401) return notAccepted(error, asked);
  if (error.code === 403) return refusalError(error, asked);
  const { server, source } = asked;
  const text = `cannot read from ${server} (${source}): ${error.message}`;
  return new CliError(`${text}; see that the server runs and that this is the right cluster`, 1, {
    cause: error,
  });
}

/** The same for one that answered, and will not have us. */
export function refusalError(error: unknown, asked: Asked): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 401) return notAccepted(error, asked);
  const { server, source } = asked;
  const text = `${server} refuses us: ${error.message}; check the user in ${source}`;
  return new CliError(text, 1, { cause: error });
}

function notAccepted(error: ApiError, { server, source }: Asked): CliError {
  // What has a cause never came to the server: a file is missing, or a plugin failed.
  const text =
    error.cause === undefined
      ? `${server} does not accept the credentials of ${source}: ${error.message}`
      : `there are no credentials for ${server} in ${source}: ${error.message}`;
  const remedy = 'log in again, or choose another user with --kubeconfig or --context';
  return new CliError(`${text}; ${remedy}`, 1, { cause: error });
}
