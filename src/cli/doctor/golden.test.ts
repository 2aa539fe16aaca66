/** The output of `doctor` if there is very much, very little, or nothing to read. */
import { expect, test } from 'vitest';
import type { Drive } from '../../kube/stowage/drive.ts';
import { examine } from '../../queries/doctor/examine.ts';
import { plainTerminal } from '../output/terminal.ts';
import { renderDoctor } from './render.ts';
import { doctor } from './run.ts';
import { factsOf, unreadFacts } from './testing/cluster-facts.ts';

const golden = (name: string) => `./testing/golden/${name}.txt`;
/** The number of checks grows. */
const stable = (text: string) => text.replace(/: \d+ checks?/, ': N checks');
const narrow = { ...plainTerminal, width: 50 };

/** On nodes that do not exist. */
function lostDrives(count: number): readonly Drive[] {
  return Array.from({ length: count }, (_, at) => ({
    metadata: { name: `drive-${String(at + 1).padStart(4, '0')}` },
    spec: { nodeName: `n${at + 1}` },
    status: { state: 'Ready', capacityBytes: 2 ** 30 },
  }));
}

test('5,000 findings are one screen', async () => {
  const text = renderDoctor(examine(factsOf({ drives: lostDrives(5_000) })), {
    terminal: plainTerminal,
    isWide: false,
  });
  expect(text.split('\n').length).toBeLessThan(80);
  await expect(stable(text)).toMatchFileSnapshot(golden('large'));
});

test('a narrow terminal', async () => {
  const text = renderDoctor(examine(factsOf({ drives: lostDrives(2) })), { terminal: narrow, isWide: false });
  await expect(stable(text)).toMatchFileSnapshot(golden('narrow'));
});

test('no rights, and an empty cluster', async () => {
  const unread = renderDoctor(examine(unreadFacts()), { terminal: plainTerminal, isWide: false });
  const [summary, ...unchecked] = unread.split('\n').slice(0, 4);
  await expect([stable(summary!), ...unchecked, ''].join('\n')).toMatchFileSnapshot(golden('no-rights'));
  const empty = renderDoctor(examine(factsOf()), { terminal: plainTerminal, isWide: false });
  await expect(stable(empty)).toMatchFileSnapshot(golden('empty'));
});

test('no cluster', async () => {
  const text = await doctor({ kubeconfig: '/does/not/exist', output: 'table', failOn: 'error' }).catch(
    String,
  );
  await expect(`${text}\n`).toMatchFileSnapshot(golden('no-cluster'));
});
