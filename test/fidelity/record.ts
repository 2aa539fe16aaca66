import { HttpClient, type ServerAddress } from './http-client.ts';
import { play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { type Exchange, exchangesOf, type Transcript } from './transcripts.ts';

/** The time that the caches of a real server need to observe a write. */
const settleMs = 700;

/** Runs the scenarios on a real server, one after another, and returns the answers. */
export async function record(server: ServerAddress, scenarios: readonly Scenario[]): Promise<Transcript> {
  const exchanges = new Map<string, readonly Exchange[]>();
  for (const scenario of scenarios) {
    const answers = await play(server, scenario, { settleMs });
    exchanges.set(scenario.name, exchangesOf(scenario, answers));
  }
  return { version: await versionOf(server), exchanges };
}

async function versionOf(server: ServerAddress): Promise<string> {
  const client = new HttpClient(server);
  try {
    const { text } = await client.call({ method: 'GET', path: '/version', headers: {}, body: undefined });
    return (JSON.parse(text) as { gitVersion: string }).gitVersion;
  } finally {
    client.close();
  }
}
