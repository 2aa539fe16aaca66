import { type Difference, unexpectedDifferences } from '../../fidelity/compare.ts';
import { isStoredOnlyWarning } from '../../fidelity/differences.ts';
import { play } from '../../fidelity/play.ts';
import type { Answer, Scenario } from '../../fidelity/scenario.ts';
import type { BothServers } from '../testing/both-servers.ts';

export interface WritesComparison {
  /** Readable differences between the servers; empty if there are none. */
  readonly text: string;
  /** The status of each write, such as `200` or `409`. */
  readonly outcomes: readonly number[];
}

/** Sends the writes to both servers. Every answer must be equal: the object, the field owners, and the error messages. */
export async function compareWrites(servers: BothServers, writes: Scenario): Promise<WritesComparison> {
  const [real, ours] = await Promise.all(
    [servers.real, servers.ours].map(async (server) => (await play(server, writes)).map(comparable)),
  );
  const text = unexpectedDifferences(writes, { real: real!, ours: ours! }, isExpected);
  const steps = writes.steps.map(({ path, body }, i) => `${i}: ${path} ${JSON.stringify(body)}`);
  return {
    text: text === '' ? '' : `${writes.name}${text}\n${steps.join('\n')}`,
    outcomes: real!.map(({ status }) => status),
  };
}

/** Go reports conflicts in the order of its maps; validation errors of incomplete objects are not tested here. */
function comparable(answer: Answer): Answer {
  const body = answer.body as {
    readonly details?: { readonly causes?: readonly unknown[] };
    readonly message?: string;
  };
  if (answer.status === 422) return { status: 422 };
  if (answer.status === 500 && unorderedPattern.test(body.message ?? '')) return { status: 500 };
  if (answer.status !== 409) return answer;
  const causes = body.details?.causes?.map((cause) => JSON.stringify(cause)).sort();
  const message = body.message?.split('\n').sort();
  return { ...answer, body: { ...body, message, details: { ...body.details, causes } } };
}

/** If an object has several errors, Go reports those that it happens to find first. */
const unorderedPattern = /errors:|field not declared in schema/;

/**
 * Kubernetes stores a new claim again at the first write after its creation, even if nothing changes; it warns about the template that a
 * replication controller had before; and a service that it created from a status never gets an address. Our server warns about kinds that it
 * only stores.
 */
function isExpected(scenario: string, request: string, { path, real, ours }: Difference): boolean {
  if (path.startsWith('headers') && real === undefined && isStoredOnlyWarning(ours)) return true;
  if (scenario.startsWith('custom ')) return isUnstored({ path, real, ours });
  if (request.includes('/replicationcontrollers/')) return path.startsWith('headers');
  if (request.includes('/services/')) return path.startsWith('body.spec.clusterIP') && real === undefined;
  return request.includes('/persistentvolumeclaims/') && path === 'body.metadata.resourceVersion';
}

/**
 * An object that this write deletes was never stored, so the answer shows fields that storing would drop. And Kubernetes stores invisible
 * nulls until the next write, which then counts as a change even if it changes nothing.
 */
function isUnstored({ path, real, ours }: Difference): boolean {
  if (path === 'body.metadata.resourceVersion') return true;
  return (
    path.startsWith('body.metadata.') && ours === undefined && ['[]', '{}'].includes(JSON.stringify(real))
  );
}
