import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddedServer } from '../../src/cluster/embedded/embedded-server.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { type Difference, describeDifference, differencesBetween } from './compare.ts';
import { corpus } from './corpus/index.ts';
import { isKnown, type KnownDifference, knownDifferences } from './differences.ts';
import { addressOf, type ServerAddress } from './http-client.ts';
import { play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { type Exchange, readTranscript, requestLine } from './transcripts.ts';

/** The embedded server answers as the real one did; where it does not, `differences.ts` says why. */

const bugs: unknown[] = [];
const used = new Set<KnownDifference>();
const played = new Set<string>();
let embedded: EmbeddedServer;
let address: ServerAddress;

beforeAll(async () => {
  embedded = await EmbeddedServer.start({
    clock: realClock,
    ids: systemIds,
    random: systemRandom,
    onError: (error, where) => bugs.push(where, error),
  });
  address = addressOf(embedded.kubeconfig);
});

afterAll(async () => {
  await embedded?.close();
});

for (const [theme, scenarios] of Object.entries(corpus)) {
  describe(theme, () => {
    const transcript = readTranscript(theme);
    test.each(scenarios)('$name', async (scenario) => {
      const exchanges = transcript.exchanges.get(scenario.name) ?? [];
      expect(scenario.steps.map(requestLine), 'the transcript is stale: record anew, see README.md').toEqual(
        exchanges.map(({ request }) => request),
      );
      const text = await surprises(scenario, exchanges);
      if (text !== '') expect.fail(text);
      expect(bugs).toEqual([]);
      played.add(scenario.name);
    });
  });
}

test('every known difference is still one', () => {
  const all = Object.values(corpus).flat();
  if (all.every(({ name }) => played.has(name))) {
    expect(knownDifferences.filter((known) => !used.has(known))).toEqual([]);
  }
});

/** The differences that nobody expects, for people to read. */
async function surprises(scenario: Scenario, exchanges: readonly Exchange[]): Promise<string> {
  const answers = await play(address, scenario);
  const texts = exchanges.map(({ request, answer }, i) => {
    const ours = answers[i];
    if (ours === undefined) return `step ${i} was not played`;
    const unknown = differencesBetween(answer, ours).filter(
      (difference) => !isExpected(scenario.name, request, difference),
    );
    return unknown.length === 0
      ? ''
      : `\nstep ${i}: ${request}\n${unknown.map(describeDifference).join('\n')}`;
  });
  return texts.join('');
}

function isExpected(scenario: string, request: string, difference: Difference): boolean {
  const matching = knownDifferences.filter((known) => isKnown(known, scenario, request, difference));
  for (const known of matching) used.add(known);
  return matching.length > 0;
}
