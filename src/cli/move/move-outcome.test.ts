import { expect, test } from 'vitest';
import { plainTerminal } from '../output/terminal.ts';
import type { MoveOutcome } from './move-context.ts';
import { exitCodeOfMove, moveReportOf, renderedMove } from './render.ts';

const done: MoveOutcome = { left: [], waiting: [], commands: [] };
const left = {
  kind: 'volume',
  name: 'pvc-1',
  claim: 'shop/data',
  driver: 'drives.stowage.dev',
  bytes: 2 ** 30,
  fitsOn: undefined,
  why: 'it fits on no other drive of its node',
  remedy: 'add a drive',
} as const;

test.each<[string, MoveOutcome, number, string]>([
  ['the end', done, 0, 'drive/a is done\n'],
  [
    'a command for the node',
    { ...done, commands: [{ node: 'n1', command: 'stowage drives move a b' }] },
    3,
    `drive/a is ready to be copied; run this, then stowage move drive/a again:
    on node n1, as root: stowage drives move a b
`,
  ],
  [
    'something to wait for',
    { ...done, waiting: ['pod default/web has not ended'] },
    3,
    `drive/a is not empty yet; stowage move drive/a goes on:
  pod default/web has not ended
`,
  ],
  [
    'something that is left',
    { ...done, left: [left] },
    3,
    `drive/a: Stowage has done what it can

LEFT
  volume pvc-1 of claim shop/data (1Gi, drives.stowage.dev): it fits on no other drive of its node. Remedy: add a drive
`,
  ],
])('%s', (_, outcome, status, text) => {
  const report = moveReportOf('drive/a', ['drive/a cordoned'], outcome);
  expect(renderedMove(report, 'table', plainTerminal)).toBe(text);
  expect(exitCodeOfMove(report)).toBe(status);
});

test('for programs', () => {
  const report = moveReportOf('drive/a', ['drive/a cordoned'], { ...done, left: [left] });
  const json: unknown = JSON.parse(renderedMove(report, 'json', plainTerminal));
  expect(json).toEqual({
    apiVersion: 'stowage.dev/drain/v1',
    kind: 'MoveReport',
    target: 'drive/a',
    state: 'Left',
    changes: ['drive/a cordoned'],
    left: [expect.objectContaining({ kind: 'volume', name: 'pvc-1' })],
    waiting: [],
    commands: [],
  });
  expect(renderedMove(report, 'name', plainTerminal)).toBe('volume pvc-1\n');
  const undone = moveReportOf('drive/a', [], done, 'GivenUp');
  expect(exitCodeOfMove(undone)).toBe(0);
  expect(renderedMove(undone, 'table', plainTerminal)).toBe('the move of drive/a was cancelled\n');
  const none = moveReportOf('drive/a', [], done, 'NoMove');
  expect(exitCodeOfMove(none)).toBe(0);
  expect(renderedMove(none, 'table', plainTerminal)).toBe(
    'there is no move of drive/a to give up; if the drive is cordoned, stowage drives uncordon a lets it take volumes again\n',
  );
});
