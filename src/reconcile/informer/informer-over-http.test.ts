import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import {
  eventLine,
  type FakeApiHandler,
  FakeApiServer,
  listBody,
  respond,
  statusBody,
} from '../../cluster/kubernetes/testing/fake-api-server.ts';
import { fastClock } from '../../cluster/kubernetes/testing/fast-clock.ts';
import { configMaps } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { Informer } from './informer.ts';

/** Lists in two pages; each watch then gets the next answer, and later watches stay open. */
function serveWatches(watchAnswers: readonly ((response: ServerResponse) => unknown)[]): FakeApiHandler {
  let watches = 0;
  return ({ url }, response) => {
    if (url.includes('continue=')) respond(response, 200, listBody(['b'], '7'));
    else if (!url.includes('watch=')) respond(response, 200, listBody(['a'], '7', 'next'));
    else {
      response.writeHead(200);
      const answer = watchAnswers[watches] ?? ((last: ServerResponse) => last.write(' \n'));
      watches += 1;
      answer(response);
    }
  };
}

test('an informer follows a real connection through resets, garbage, silence and expiry', async () => {
  const expired = JSON.stringify({ type: 'ERROR', object: statusBody(410, 'Expired') });
  const server = await FakeApiServer.start(
    serveWatches([
      (response) => response.write(eventLine('ADDED', 'c', '8'), () => response.destroy()),
      (response) => response.end(`${eventLine('ADDED', 'd', '9')}garbage\n`),
      (response) => response.write(eventLine('MODIFIED', 'd', '10')),
      (response) => response.end(eventLine('DELETED', 'd', '11')),
      (response) => response.end(`${expired}\n`),
    ]),
  );
  onTestFinished(() => server.close());
  const cluster = await server.connect({}, { watchSilenceMsMax: 10_000 });
  const random = seededRandom('informer');
  const supervisor = new Supervisor({
    clock: fastClock,
    random,
    onCrash: (crash) => expect.fail(String(crash.error)),
  });
  const changes: string[] = [];
  let isOver = () => {};
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const informer = new Informer({ cluster, resource: configMaps, clock: fastClock, random, pageSize: 1 });
  informer.addHandler({
    added: ({ metadata }) => void changes.push(`+${metadata?.name}`),
    updated: ({ metadata }) => void changes.push(`*${metadata?.name}`),
    deleted: ({ metadata }) => {
      changes.push(`-${metadata?.name}`);
      if (metadata?.name === 'c') isOver();
    },
  });
  informer.start(supervisor);
  await over;
  expect(await supervisor.close()).toEqual([]);
  expect(changes).toEqual(['+a', '+b', '+c', '+d', '*d', '-d', '-c']);
  const from = server.received.map(({ url }) => /watch=true&resourceVersion=(\d+)/.exec(url)?.[1] ?? 'list');
  expect(from.slice(0, 9)).toEqual(['list', 'list', '7', '8', '9', '10', '11', 'list', 'list']);
});
