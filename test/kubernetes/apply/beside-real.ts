import { type Difference, surprises } from '../../fidelity/compare.ts';
import { play } from '../../fidelity/play.ts';
import type { Answer, Scenario } from '../../fidelity/scenario.ts';
import type { BothServers } from '../testing/both-servers.ts';

export interface Compared {
  /** Where the two differ, for people to read; empty where they do not. */
  readonly text: string;
  /** How many writes had which outcome: `200`, `409`. */
  readonly outcomes: readonly number[];
}

/** Leads one life on both servers. Every answer must be the same: the object, its owners, and the sentences of refusals. */
export async function compareLife(servers: BothServers, life: Scenario): Promise<Compared> {
  const [real, ours] = await Promise.all(
    [servers.real, servers.ours].map(async (server) => (await play(server, life)).map(comparable)),
  );
  const text = surprises(life, { real: real!, ours: ours! }, isExpected);
  const steps = life.steps.map(({ path, body }, i) => `${i}: ${path} ${JSON.stringify(body)}`);
  return {
    text: text === '' ? '' : `${life.name}${text}\n${steps.join('\n')}`,
    outcomes: real!.map(({ status }) => status),
  };
}

/** Go tells conflicts in the order of its maps; what an invalid object lacks is not the subject here. */
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

/** Of several complaints about one object, Go tells those that it happens to meet first. */
const unorderedPattern = /errors:|field not declared in schema/;

/**
 * Kubernetes stores a new claim anew when it is written for the first time, also where nothing changes; warns of the template that a
 * replication controller had before; and a service that it made of its status stays without an address for ever.
 */
function isExpected(scenario: string, request: string, { path, real, ours }: Difference): boolean {
  if (scenario.startsWith('custom ')) return isUnstored({ path, real, ours });
  if (request.includes('/replicationcontrollers/')) return path.startsWith('headers');
  if (request.includes('/services/')) return path.startsWith('body.spec.clusterIP') && real === undefined;
  return request.includes('/persistentvolumeclaims/') && path === 'body.metadata.resourceVersion';
}

/**
 * An object that goes with this write was never stored, and so shows what storing leaves out. And nulls that nobody sees are stored by
 * Kubernetes until the next write, which is one then even where it changes nothing.
 */
function isUnstored({ path, real, ours }: Difference): boolean {
  if (path === 'body.metadata.resourceVersion') return true;
  return (
    path.startsWith('body.metadata.') && ours === undefined && ['[]', '{}'].includes(JSON.stringify(real))
  );
}
