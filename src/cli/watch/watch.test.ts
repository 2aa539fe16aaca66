import { expect, test } from 'vitest';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import { nodes } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { plainTerminal } from '../output/terminal.ts';
import { Screen } from './screen.ts';
import { WatchLoop } from './watch-loop.ts';
import { WatchedCluster } from './watched-cluster.ts';

function written(
  isInteractive: boolean,
  height?: number,
): { readonly screen: Screen; readonly text: () => string } {
  let text = '';
  const device = {
    terminal: { ...plainTerminal, isInteractive },
    height,
    write: (more: string) => {
      text += more;
    },
  };
  return { screen: new Screen(() => device), text: () => text };
}

test('on a terminal each text replaces the last, and the last one stays', () => {
  const { screen, text } = written(true);
  screen.show('a\nb\n', 'now');
  screen.show('c\n', 'later');
  screen.close();
  expect(text().replaceAll('\u001b', '^')).toBe(
    [
      '^[?1049h^[?25l^[Hnow^[K\r\n^[K\r\na^[K\r\nb^[K^[J',
      '^[Hlater^[K\r\n^[K\r\nc^[K^[J',
      '^[?25h^[?1049lc\n',
    ].join(''),
  );
});

test('a text that is longer than the terminal is cut, and says so', () => {
  const { screen, text } = written(true, 5);
  screen.show('1\n2\n3\n4\n5\n', 'now');
  expect(text()).toContain('… 3 more lines');
  expect(text()).not.toContain('3\u001b');
});

test('elsewhere texts follow each other, and equal ones are left out', () => {
  const { screen, text } = written(false);
  for (const [shown, status] of [
    ['a\n', '1'],
    ['a\n', '2'],
    ['b\n', '3'],
  ] as const)
    screen.show(shown, status);
  screen.close();
  expect(text()).toBe('a\n\n--- 3\nb\n');
});

test('answers follow changes, at most one a second, and come again after a while without any', async () => {
  await using environment = await VirtualTimeCluster.start();
  const { clock, cluster } = environment;
  const seen: number[] = [];
  const stop = new AbortController();
  const loop = new WatchLoop({
    clock,
    answer: async () => {
      seen.push(watched.list().snapshot.count('Node'));
    },
  });
  await using watched = new WatchedCluster({
    cluster,
    clock,
    random: seededRandom('watch'),
    unlisted: [{ kind: 'Pod', plural: 'pods', onlyNamespace: undefined }],
    onChange: () => loop.changed(),
  });
  await Promise.all([watched.synced(stop.signal), environment.settle()]);
  const running = loop.run(stop.signal);
  await environment.settle(2_000);
  for (const name of ['n1', 'n2', 'n3']) await cluster.resource(nodes).create({ metadata: { name } });
  await environment.settle(5_000);
  expect(seen.at(0)).toBe(0);
  expect(seen.at(-1)).toBe(3);
  // Three simultaneous changes give one or two answers.
  expect(seen.length).toBeLessThanOrEqual(3);
  const before = seen.length;
  await environment.settle(31_000);
  expect(seen.length).toBeGreaterThan(before);
  stop.abort();
  await running;
  expect(watched.list().unlisted).toHaveLength(1);
});
