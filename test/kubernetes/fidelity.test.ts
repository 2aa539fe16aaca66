import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { unexpectedDifferences } from '../fidelity/compare.ts';
import { corpus } from '../fidelity/corpus/index.ts';
import { addressOf } from '../fidelity/http-client.ts';
import { record } from '../fidelity/record.ts';
import { readTranscript } from '../fidelity/transcripts.ts';
import { isRetry } from './testing/is-retry.ts';
import { lacks, serverPrograms, sharedTestBed, startTestBed } from './vitest-beds.ts';

/**
 * Checks that the transcripts of `npm test` are still what a real server answers. The scenarios share one server, one theme after another,
 * as in the recording.
 */
describe.skipIf(lacks('1.36', ...serverPrograms))('the transcripts', () => {
  const bed = sharedTestBed();

  test.for(Object.entries(corpus))(
    'of %s equal the answers of the real server',
    { timeout: 600_000 },
    async ([theme, scenarios], { task }) => {
      const stored = readTranscript(theme);
      const { kubeconfig } = isRetry(task) ? await startTestBed() : bed();
      const live = await record(addressOf(readFileSync(kubeconfig, 'utf8')), scenarios);
      expect(stored.version).toBe(live.version);
      const texts = scenarios.map((scenario) => {
        const answersOf = (transcript: typeof live) =>
          (transcript.exchanges.get(scenario.name) ?? []).map(({ answer }) => answer);
        // `real` is the live answer, `ours` the recorded one.
        const text = unexpectedDifferences(scenario, { real: answersOf(live), ours: answersOf(stored) });
        return text === '' ? '' : `${scenario.name}${text}`;
      });
      expect(texts.join('')).toBe('');
    },
  );
});
