import { expect, test } from 'vitest';
import type { ClusterCall } from '../cluster/intercepted-cluster.ts';
import { onlyFor, recordCalls } from '../cluster/testing/fault-hooks.ts';
import type { PersistentVolumeClaim } from '../kube/api/core.ts';
import { failure } from '../kube/api-error.ts';
import { persistentVolumeClaims } from '../kube/resources.ts';
import { annotations } from '../kube/well-known.ts';
import { BindFailure } from './bind-failure.ts';
import { type ReservedPod, SessionFixture } from './testing/session-fixture.ts';

const { signal: never } = new AbortController();

const isSelection = ({ verb, resource, body }: ClusterCall) =>
  verb === 'patch' && resource.plural === 'persistentvolumeclaims' && marksOf(body).selected !== undefined;
const isOtherClaimPatch = (call: ClusterCall) =>
  call.verb === 'patch' && call.resource.plural === 'persistentvolumeclaims' && !isSelection(call);

function marksOf(claim: unknown) {
  const marks = (claim as PersistentVolumeClaim).metadata?.annotations ?? {};
  return { selected: marks[annotations.selectedNode], givenUp: marks[annotations.selectionGivenUp] };
}

function bind({ session }: SessionFixture, { pod, reservation }: ReservedPod): Promise<void> {
  return session.bind(pod, reservation, { extent: 'volumes and pod' }, never);
}

async function storedMarks({ environment }: SessionFixture) {
  const claims = environment.cluster.resource(persistentVolumeClaims);
  return marksOf(await claims.get({ namespace: 'default', name: 'data' }));
}

/** No selected node gets a response. Returns those that are on their way. */
function loseSelections({ connection }: SessionFixture): readonly ClusterCall[] {
  const late: ClusterCall[] = [];
  const before = (call: ClusterCall) => {
    late.push(call);
    throw failure(504, 'Timeout', 'there was no response');
  };
  connection.addHooks(onlyFor(isSelection, { before }));
  return late;
}

test('a selected node without a response cannot take effect after the reservation is released', async () => {
  await using fixture = await SessionFixture.start();
  await fixture.claim();
  const reserved = await fixture.reserved(['data']);
  const late = loseSelections(fixture);
  const others = recordCalls(fixture.connection, isOtherClaimPatch);
  await expect(bind(fixture, reserved)).rejects.toThrow(new BindFailure('there was no response'));
  expect([late.length, others.length, fixture.log]).toEqual([3, 1, ['reverted default/p']]);
  for (const call of late) await expect(call.send()).rejects.toThrow('the object has been modified');
  expect(await storedMarks(fixture)).toEqual({ selected: undefined, givenUp: expect.any(String) });
});

test('a selected node that takes effect while it is being superseded counts', async () => {
  await using fixture = await SessionFixture.start();
  await fixture.claim();
  const reserved = await fixture.reserved(['data']);
  const late = loseSelections(fixture);
  const before = async () => void (await late[0]?.send());
  fixture.connection.addHooks(onlyFor(isOtherClaimPatch, { before }));
  const end = new AbortController();
  const bound = fixture.session.bind(
    reserved.pod,
    reserved.reservation,
    { extent: 'volumes and pod' },
    end.signal,
  );
  bound.catch(() => {});
  await expect.poll(() => storedMarks(fixture), { timeout: 120_000 }).toMatchObject({ selected: 'n1' });
  expect(fixture.log).toEqual([]);
  end.abort(new Error('the test has ended'));
  await expect(bound).rejects.toThrow('the test has ended');
});

test('the next selected node removes the mark of the superseded one', async () => {
  await using fixture = await SessionFixture.start();
  await fixture.claim();
  const claims = fixture.environment.cluster.resource(persistentVolumeClaims);
  const body = { metadata: { annotations: { [annotations.selectionGivenUp]: '2025-01-01T00:00:00Z' } } };
  await claims.patch({ namespace: 'default', name: 'data' }, { type: 'merge', body });
  await expect
    .poll(() => marksOf(fixture.feed.get('PersistentVolumeClaim', 'default/data')), { timeout: 120_000 })
    .toMatchObject({ givenUp: '2025-01-01T00:00:00Z' });
  const reserved = await fixture.reserved(['data']);
  const end = new AbortController();
  const bound = fixture.session.bind(
    reserved.pod,
    reserved.reservation,
    { extent: 'volumes and pod' },
    end.signal,
  );
  bound.catch(() => {});
  await expect
    .poll(() => storedMarks(fixture), { timeout: 120_000 })
    .toEqual({ selected: 'n1', givenUp: undefined });
  end.abort(new Error('the test has ended'));
  await expect(bound).rejects.toThrow('the test has ended');
});
