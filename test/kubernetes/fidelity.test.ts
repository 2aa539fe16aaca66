import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { surprises } from '../fidelity/compare.ts';
import { corpus } from '../fidelity/corpus/index.ts';
import { addressOf } from '../fidelity/http-client.ts';
import { record } from '../fidelity/record.ts';
import { readTranscript } from '../fidelity/transcripts.ts';
import { lacks, serverPrograms, sharedBed, startBed } from './bed-in-test.ts';
import { isRetry } from './testing/is-retry.ts';

/**
 * What `npm test` holds the embedded server against is what a real one answers today. Scenarios share the server, one theme after
 * the other, as they did when they were recorded.
 */
describe.skipIf(lacks('1.36', ...serverPrograms))('the transcripts', () => {
  const bed = sharedBed();

  test.for(Object.entries(corpus))(
    'of %s are what the real server says',
    { timeout: 600_000 },
    async ([theme, scenarios], { task }) => {
      const stored = readTranscript(theme);
      const { kubeconfig } = isRetry(task) ? await startBed() : bed();
      const live = await record(addressOf(readFileSync(kubeconfig, 'utf8')), scenarios);
      expect(stored.version).toBe(live.version);
      const texts = scenarios.map((scenario) => {
        const answersOf = (transcript: typeof live) =>
          (transcript.exchanges.get(scenario.name) ?? []).map(({ answer }) => answer);
        // `real` is what is live now, `ours` what we have on record.
        const text = surprises(scenario, { real: answersOf(live), ours: answersOf(stored) });
        return text === '' ? '' : `${scenario.name}${text}`;
      });
      expect(texts.join('')).toBe('');
    },
  );
});
