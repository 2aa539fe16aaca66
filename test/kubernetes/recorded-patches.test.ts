import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type RecordedAnswer, readLines } from '../../src/apiserver/patch/testing/vectors.ts';
import type { Status } from '../../src/kube/api/meta.ts';
import { addressOf, HttpClient } from '../fidelity/http-client.ts';
import { projectRoot } from '../project-root.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

/** The responses replace the recorded ones if RECORD_PATCHES=1. */
const isRecording = process.env.RECORD_PATCHES === '1';

const mediaTypes = { json: 'json-patch', merge: 'merge-patch', strategic: 'strategic-merge-patch' } as const;
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};

describe.skipIf(lacks(...serverPrograms, '1.36'))('kube-apiserver still answers as recorded', () => {
  const bed = sharedTestBed();

  test('to patches of a pod', async () => {
    await bed().kubectl(['wait', '--for=create', 'namespace/default', '--timeout=300s']);
    await bed().kubectl(['create', '-f', '-'], JSON.stringify(pod));
    const http = new HttpClient(addressOf(readFileSync(bed().kubeconfig, 'utf8')));
    const lines = readLines<RecordedAnswer>('answers.ndjson');
    const answered: object[] = [];
    for (const { type, patch } of lines)
      answered.push({ type, patch, ...(await answerTo(http, type, patch)) });
    http.close();
    if (isRecording) saveAnswers(answered);
    else expect(answered).toEqual(lines);
  });
});

async function answerTo(http: HttpClient, type: RecordedAnswer['type'], patch: unknown): Promise<object> {
  const { status, text } = await http.call({
    method: 'PATCH',
    path: '/api/v1/namespaces/default/pods/p?dryRun=All',
    headers: { 'content-type': `application/${mediaTypes[type]}+json` },
    body: Buffer.from(JSON.stringify(patch)),
  });
  if (status < 300) return {};
  const { message, reason, details, code }: Status = JSON.parse(text);
  return { answer: { message, ...(reason && { reason }), ...(details && { details }), code } };
}

function saveAnswers(lines: readonly object[]): void {
  const path = join(projectRoot, 'src/apiserver/patch/testing/answers.ndjson');
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
