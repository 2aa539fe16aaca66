import { expect, test } from 'vitest';
import { StoreError } from '../../apiserver/store/store-error.ts';
import { explained } from './up-errors.ts';

const place = { host: '127.0.0.1', port: '7443', dataDirectory: '/nowhere/data' };

function machineError(code: string, message = code): Error {
  return Object.assign(new Error(message), { code });
}

test.each([
  [
    machineError('EADDRINUSE'),
    'port 7443 of 127.0.0.1 is in use; stop what listens there, or choose another with --port (0 picks a free one)',
  ],
  [machineError('EADDRNOTAVAIL'), 'this machine has no address 127.0.0.1; choose another with --host'],
  [
    machineError('EACCES', 'EACCES: mkdir /nowhere'),
    'not allowed: EACCES: mkdir /nowhere; choose a port above 1023 with --port, or a directory that you may write with --data (now /nowhere/data)',
  ],
  [
    machineError('ENOSPC'),
    'the disk of /nowhere/data is full; free some space, or choose another with --data',
  ],
  [
    new StoreError('NewerFormat', 'it is newer; use that version or choose another directory with --data'),
    'it is newer; use that version or choose another directory with --data, or start over with --fresh, which deletes all data',
  ],
  [
    new StoreError('Damaged', 'store.mdb is damaged (restore it from a backup); choose another with --data'),
    'store.mdb is damaged (restore it from a backup); choose another with --data, or start over with --fresh, which deletes all data',
  ],
  [
    new StoreError('InUse', 'it is in use; stop it or choose another with --data'),
    'it is in use; stop it or choose another with --data',
  ],
  [
    new StoreError('WriteFailed', 'writing failed: Input/output error'),
    'writing failed: Input/output error; free some space or repair the disk, or choose another with --data',
  ],
])('%s is reported with its remedy', (error, message) => {
  expect(explained(error, place)).toMatchObject({ name: 'CliError', exitCode: 1, message });
});

test('a bug stays one, and shows where it is', () => {
  const bug = new TypeError('x is not a function');
  expect(explained(bug, place)).toBe(bug);
});
