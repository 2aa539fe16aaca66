import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddedServer } from '../../src/apiserver/embedded-server.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { type Difference, unexpectedDifferences } from './compare.ts';
import { corpus } from './corpus/index.ts';
import { isKnown, type KnownDifference, knownDifferences } from './differences.ts';
import { addressOf, type ServerAddress } from './http-client.ts';
import { play } from './play.ts';
import { readTranscript, requestDigest } from './transcripts.ts';

/** Checks that the embedded server answers as the real one did, except for the entries of `differences.ts`. */

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
      const digests = exchanges.map(({ request }) => request);
      expect(digests, 'the transcript is outdated: record it again, see README.md').toEqual(
        scenario.steps.map(requestDigest),
      );
      const real = exchanges.map(({ answer }) => answer);
      const text = unexpectedDifferences(scenario, { real, ours: await play(address, scenario) }, isExpected);
      if (text !== '') expect.fail(text);
      expect(bugs).toEqual([]);
      played.add(scenario.name);
    });
  });
}

test('every known difference still occurs', () => {
  const all = Object.values(corpus).flat();
  if (all.every(({ name }) => played.has(name))) {
    expect(knownDifferences.filter((known) => !used.has(known))).toEqual([]);
  }
});

function isExpected(scenario: string, request: string, difference: Difference): boolean {
  const matching = knownDifferences.filter((known) => isKnown(known, scenario, request, difference));
  for (const known of matching) used.add(known);
  return matching.length > 0;
}
