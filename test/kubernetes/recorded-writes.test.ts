import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordedWrite } from '../../src/apiserver/kinds/testing/recorded-writes.ts';
import { readRecordings } from '../../src/apiserver/kinds/testing/recordings.ts';
import { projectRoot } from '../project-root.ts';
import { comparable, stableAnswer } from './recorded-writes/stable-answer.ts';
import { WriteSender } from './recorded-writes/write-sender.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

/** Responses that differ replace the recorded ones if RECORD_WRITES=1. */
const isRecording = process.env.RECORD_WRITES === '1';

describe.skipIf(lacks(...serverPrograms, '1.36'))('kube-apiserver still answers as recorded', () => {
  const bed = sharedTestBed();
  let sender: WriteSender;

  beforeAll(async () => {
    sender = new WriteSender(bed().kubeconfig);
    await sender.ready();
  });
  afterAll(() => sender.close());

  test.each(readRecordings<RecordedWrite>('writes.ndjson'))(
    'to the writes of $folder',
    async ({ folder, lines }) => {
      const next: RecordedWrite[] = [];
      for (const write of lines) next.push(await answered(write));
      if (isRecording) saveRecording(folder, next);
      else expect(next.map(named)).toEqual(lines.map(named));
    },
  );

  /** The same write with the answer of today; the recorded line if nothing changed. */
  async function answered(write: RecordedWrite): Promise<RecordedWrite> {
    const answer = stableAnswer(write, await sender.send(write));
    const isSame = JSON.stringify(comparable(answer)) === JSON.stringify(comparable(write));
    const { stored: _stored, causes: _causes, warnings: _warnings, ...inputs } = write;
    return isSame ? write : ({ ...inputs, ...answer } as RecordedWrite);
  }
});

function named({ name, does, object, stored, causes, warnings }: RecordedWrite): object {
  return { write: `${does} ${object.kind}: ${name}`, stored, causes, warnings };
}

function saveRecording(folder: string, lines: readonly RecordedWrite[]): void {
  const path = join(projectRoot, 'src/apiserver/kinds', folder, 'testing/writes.ndjson');
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
