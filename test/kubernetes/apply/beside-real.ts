import { type Difference, surprises } from '../../fidelity/compare.ts';
import type { ServerAddress } from '../../fidelity/http-client.ts';
import { play } from '../../fidelity/play.ts';
import type { Answer } from '../../fidelity/scenario.ts';
import { randomLife } from './random-life.ts';

export interface Servers {
  readonly real: ServerAddress;
  readonly ours: ServerAddress;
}

export interface Compared {
  /** Where the two differ, for people to read; empty where they do not. */
  readonly text: string;
  /** How many writes had which outcome: `200`, `409`. */
  readonly outcomes: readonly number[];
}

/** Leads one life on both servers. Every answer must be the same: the object, its owners, and the sentences of refusals. */
export async function compareLife(servers: Servers, seed: number, stepCount: number): Promise<Compared> {
  const life = randomLife(seed, stepCount);
  const [real, ours] = await Promise.all(
    [servers.real, servers.ours].map(async (server) => (await play(server, life)).map(comparable)),
  );
  const text = surprises(life, { real: real!, ours: ours! }, isExpected);
  const steps = life.steps.map(({ path, body }, i) => `${i}: ${path} ${JSON.stringify(body)}`);
  return {
    text: text === '' ? '' : `seed ${seed}${text}\n${steps.join('\n')}`,
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
  if (answer.status !== 409) return answer;
  const causes = body.details?.causes?.map((cause) => JSON.stringify(cause)).sort();
  const message = body.message?.split('\n').sort();
  return { ...answer, body: { ...body, message, details: { ...body.details, causes } } };
}

/**
 * Kubernetes stores a new claim anew when it is written for the first time, also where nothing changes; warns of the template that a
 * replication controller had before; and makes a service of its status.
 */
function isExpected(_scenario: string, request: string, { path, ours }: Difference): boolean {
  if (request.includes('/replicationcontrollers/')) return path.startsWith('headers');
  if (/\/services\/.*\/status/.test(request)) return path === 'status' && String(ours).startsWith('404');
  return request.includes('/persistentvolumeclaims/') && path === 'body.metadata.resourceVersion';
}
