import { expect, test } from 'vitest';
import { failure } from '../../kube/api-error.ts';
import { refusalError } from './server-error.ts';

const asked = { server: 'https://host:6443', source: 'context "a" of kubeconfig' };

test('a server that does not answer is not said to refuse the user', () => {
  const error = refusalError(failure(503, 'ServiceUnavailable', 'connect ECONNREFUSED 127.0.0.1:9'), asked);
  expect((error as Error).message).toBe(
    'cannot read from https://host:6443 (context "a" of kubeconfig): connect ECONNREFUSED 127.0.0.1:9; check that the server runs and that this is the right cluster',
  );
});

test('a user without a right is named, with what to do', () => {
  const error = refusalError(failure(403, 'Forbidden', 'no'), asked);
  expect((error as Error).message).toBe(
    'the user of context "a" of kubeconfig lacks a right: no; ask for this right, or choose another user with --kubeconfig or --context',
  );
});
