import { describe, expect, test } from 'vitest';
import type { CronJob, Job } from '../../../kube/api/stored/batch.ts';
import { normalize } from '../../schema/normalize.ts';
import { cronJobKind } from './cron-job.ts';
import { jobKind } from './job.ts';
import { findOverlap, readIndexes } from './job-indexes.ts';

const nowMs = Date.UTC(2024, 0, 2, 4, 0, 0);

function job(fields: { readonly metadata?: object; readonly status?: object }): Job {
  const { metadata, status = {} } = fields;
  return normalize('batch/v1.Job', { metadata: { name: 'j', ...metadata }, status }).object as unknown as Job;
}

const isTrue = (type: string) => ({ type, status: 'True' });

test.each([
  ['Running', {}],
  ['Suspended', { status: { conditions: [isTrue('Suspended')] } }],
  ['FailureTarget', { status: { conditions: [isTrue('FailureTarget')] } }],
  ['SuccessCriteriaMet', { status: { conditions: [isTrue('SuccessCriteriaMet')] } }],
  ['Complete', { status: { conditions: [isTrue('SuccessCriteriaMet'), isTrue('Complete')] } }],
  ['Failed', { status: { conditions: [isTrue('FailureTarget'), isTrue('Failed')] } }],
  ['Terminating', { metadata: { deletionTimestamp: '2024-01-02T03:04:05Z' } }],
  ['Running', { status: { conditions: [{ type: 'Suspended', status: 'False' }] } }],
])('the status cell of a job is %s', (state, fields) => {
  expect(jobKind.row(job(fields), { nowMs })[1]).toBe(state);
});

test.each([
  ['', {}],
  ['55m', { startTime: '2024-01-02T03:05:00Z' }],
  ['90s', { startTime: '2024-01-02T03:05:00Z', completionTime: '2024-01-02T03:06:30Z' }],
])('the duration cell of a job is %j', (duration, status) => {
  expect(jobKind.row(job({ status }), { nowMs })[3]).toBe(duration);
});

test('the row of a cron job shows its last schedule and its active jobs', () => {
  const cronJob = normalize('batch/v1.CronJob', {
    metadata: { name: 'c' },
    status: { lastScheduleTime: '2024-01-02T03:59:00Z', active: [{ name: 'a' }, { name: 'b' }] },
  }).object as unknown as CronJob;
  expect(cronJobKind.row(cronJob, { nowMs }).slice(4, 6)).toEqual([2, '60s']);
});

describe('lists of indexes', () => {
  test.each([
    ['', 0],
    ['0', 1],
    ['0-3', 4],
    ['0-3,5,7-9', 8],
  ])('%j contains %d indexes', (text, total) => {
    expect(readIndexes(text, 10)).toEqual({ ok: true, total });
  });

  test.each([
    [
      '1-2-3',
      `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
    ],
    ['x', 'cannot convert string to integer for index: "x"'],
    ['1-', 'cannot convert string to integer for index: ""'],
    ['10', 'too large index: "10"'],
    ['2-10', 'too large index: "10"'],
    ['3-3', 'non-increasing order, previous: 3, current: 3'],
    ['1,1', 'non-increasing order, previous: 1, current: 1'],
  ])('%j is refused', (text, problem) => {
    expect(readIndexes(text, 10)).toEqual({ ok: false, problem });
  });

  test.each([
    ['1-3,5', '2', 2],
    ['1-3,5', '4', undefined],
    ['1-3,5', '0,5-7', 5],
    ['x,5', '5', 5],
    ['', '5', undefined],
  ])('%j and %j overlap at %s', (a, b, index) => {
    expect(findOverlap(a, b, 10)).toBe(index);
  });
});
