import type { Cluster } from '../../cluster/cluster.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { CliError } from '../errors/cli-error.ts';

/** `kubectl get drives -o name` and our own `-o name` print names with this in front. */
export const drivePrefix = 'drive.stowage.dev/';

const namesShownMax = 8;

export function driveNameIn(argument: string): string {
  return argument.startsWith(drivePrefix) ? argument.slice(drivePrefix.length) : argument;
}

/** The drive of that name, or an error that lists those that exist. */
export async function driveNamed(cluster: Cluster, argument: string): Promise<Drive> {
  const name = driveNameIn(argument);
  const client = cluster.resource(drives);
  const found = await undefinedIfNotFound(client.get({ name }));
  if (found !== undefined) return found;
  const names = (await client.list()).items.map(({ metadata }) => metadata?.name ?? '');
  const shown = names.slice(0, namesShownMax).join(', ');
  const more = names.length > namesShownMax ? `, and ${names.length - namesShownMax} more` : '';
  const known = names.length === 0 ? 'there are no drives' : `the drives are ${shown}${more}`;
  throw new CliError(`there is no drive ${name}; ${known}`);
}
