import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { corpus } from './corpus/index.ts';
import { addressOf } from './http-client.ts';
import { record } from './record.ts';
import { writeTranscript } from './transcripts.ts';

/**
 * Writes the transcripts anew when FIDELITY_RECORD names the kubeconfig of a real server that has nothing to do. FIDELITY_THEMES
 * restricts it to some themes.
 */
const kubeconfig = process.env.FIDELITY_RECORD;
const wanted = process.env.FIDELITY_THEMES?.split(',');

test
  .runIf(kubeconfig !== undefined)
  .each(Object.keys(corpus).filter((theme) => wanted?.includes(theme) ?? true))(
  'the transcript of %s is written',
  async (theme) => {
    const transcript = await record(addressOf(readFileSync(kubeconfig ?? '', 'utf8')), corpus[theme] ?? []);
    writeTranscript(theme, transcript);
    expect(transcript.exchanges.size).toBe(corpus[theme]?.length);
  },
  600_000,
);
