import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { corpus } from './corpus/index.ts';
import { addressOf } from './http-client.ts';
import { record } from './record.ts';
import { writeTranscript } from './transcripts.ts';

/**
 * Records the transcripts again if FIDELITY_RECORD is the path of a kubeconfig of an idle real server. FIDELITY_THEMES limits the recording
 * to some themes.
 */
const kubeconfig = process.env.FIDELITY_RECORD;
const wanted = process.env.FIDELITY_THEMES?.split(',');

test
  .runIf(kubeconfig !== undefined)
  .each(Object.keys(corpus).filter((theme) => wanted?.includes(theme) ?? true))(
  'records the transcript of %s',
  async (theme) => {
    const transcript = await record(addressOf(readFileSync(kubeconfig ?? '', 'utf8')), corpus[theme] ?? []);
    writeTranscript(theme, transcript);
    expect(transcript.exchanges.size).toBe(corpus[theme]?.length);
  },
  600_000,
);
