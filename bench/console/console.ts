/**
 * The console with a large cluster in a real Chromium: how long the page takes to load, and how long single tasks block it while it loads, scrolls,
 * filters, draws and follows changes. Server, writer and browser share the cores of this machine, so tasks are measured in processor time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { EmbeddedServer } from '../../src/apiserver/embedded-server.ts';
import { ConsolePages } from '../../src/cli/up/console-pages.ts';
import { EmbeddedCluster } from '../../src/cluster/embedded-cluster.ts';
import { consoleAnswers } from '../../src/console/answers/console-answers.ts';
import { Console } from '../../src/console/console.ts';
import { consoleKinds, resourceOfKind } from '../../src/console/state/console-objects.ts';
import { persistentVolumes } from '../../src/kube/resources.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { Benchmark, Row } from '../harness.ts';
import { largeCluster } from './large-cluster.ts';
import { tasksDuring } from './main-thread.ts';

const nodesDefault = 5_000;
const volumesDefault = 50_000;
const podsDefault = 20_000;
/** Changes while the page is watched. */
const changes = 2_000;
const concurrentWrites = 32;

export const consoleBenchmark: Benchmark = {
  name: 'console',
  summary:
    'the web console in Chromium: loading, scrolling, filtering and following a large cluster, its longest tasks',
  async run(progress, sizes = {}) {
    const { nodes = nodesDefault, pvs: volumes = volumesDefault, pods = podsDefault } = sizes;
    const token = systemIds.uid();
    const pages = new ConsolePages();
    const server = await EmbeddedServer.start({
      clock: realClock,
      ids: systemIds,
      random: systemRandom,
      extraPages: pages,
      onError: (error) => progress(String(error)),
    });
    const cluster = new EmbeddedCluster({ registry: server.registry, manager: 'bench' });
    await fill(cluster, { nodes, volumes, pods }, progress);
    const startedMs = realClock.monotonicMs();
    const facts = { leases: undefined, isEmbedded: true, isFromFiles: false };
    const console = Console.start({
      source: { kind: 'cluster', cluster },
      answers: consoleAnswers({ facts: async () => facts }),
      viewers: { ownToken: token },
      hosts: [],
      server: server.url,
      version: 'bench',
      canWrite: false,
      clock: realClock,
      random: systemRandom,
      ids: systemIds,
      onError: (error, where) => progress(`${where}: ${error}`),
    });
    pages.serve(console);
    await console.ready;
    const readMs = realClock.monotonicMs() - startedMs;
    progress(`the console has read the cluster after ${Math.round(readMs)} ms`);
    try {
      const rows = await inBrowser(`${server.url}/console/?token=${token}`, cluster, volumes, progress);
      return [{ work: 'server', what: 'read the cluster', ms: Math.round(readMs) }, ...rows];
    } finally {
      await console.close();
      await server.close();
    }
  },
};

async function fill(
  cluster: EmbeddedCluster,
  sizes: { readonly nodes: number; readonly volumes: number; readonly pods: number },
  progress: (text: string) => void,
): Promise<void> {
  const resources = new Map(consoleKinds.map((kind) => [kind as string, resourceOfKind(kind)]));
  const objects = largeCluster(sizes)[Symbol.iterator]();
  let made = 0;
  const write = async () => {
    for (let next = objects.next(); next.done !== true; next = objects.next()) {
      const { kind = '' } = next.value;
      const resource = resources.get(kind)!;
      await cluster.resource(resource).create(next.value);
      made += 1;
      if (made % 10_000 === 0) progress(`${made} objects`);
    }
  };
  // The namespace first, as everything else needs it.
  const { value } = objects.next();
  await cluster.resource(resources.get('Namespace')!).create(value);
  await Promise.all(Array.from({ length: concurrentWrites }, write));
}

async function inBrowser(
  url: string,
  cluster: EmbeddedCluster,
  volumes: number,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const profile = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    ignoreHTTPSErrors: true,
    viewport: { width: 1600, height: 1000 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  });
  try {
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    const rows: Row[] = [];
    const round: ChangeRound = { number: 0, volumes };
    const measure = async (work: string, act: () => Promise<void>) => {
      const startedMs = realClock.monotonicMs();
      const tasks = await tasksDuring(session, act);
      const ms = Math.round(realClock.monotonicMs() - startedMs);
      rows.push({ work: 'page', what: work, ms, ...tasks });
      progress(`${work}: longest task ${tasks.longestCpuMs} ms`);
    };
    const show = async (view: string) => {
      await page.evaluate(`location.hash = '#/${view}'`);
    };
    const search = page.getByRole('searchbox');
    const found = page.locator('.filter [role=status][aria-busy=false]');
    await measure('load the page and all rows', async () => {
      await page.goto(`${url}#/volumes`);
      await page.getByText('Live', { exact: true }).waitFor();
    });
    await measure('scroll through all volumes', async () => await scroll(page, '.grid', 60));
    await measure('filter them, letter by letter', async () => {
      await search.pressSequentially('node-0042');
      await found.getByText(/^\d+ of/).waitFor();
      await search.fill('');
    });
    await search.fill('bound');
    await measure(
      `filter them while ${changes} of them change`,
      async () => await change(cluster, page, round),
    );
    await measure('show the map', async () => {
      await show('map');
      await page.locator('.map-box').waitFor();
      await page.waitForTimeout(500);
    });
    await measure('scroll the map', async () => await scroll(page, '.map-box', 40));
    await measure(`follow ${changes} changes on the map`, async () => await change(cluster, page, round));
    await measure('show all pods, and filter them', async () => {
      await show('pods');
      await search.pressSequentially('app-004');
      await found.getByText(/^\d+ of/).waitFor();
    });
    await show('volumes');
    await measure(`follow ${changes} changes in the list`, async () => await change(cluster, page, round));
    await measure('show the overview', async () => {
      await show('overview');
      await page.getByText('volumes of class local').waitFor();
    });
    await measure(
      `follow ${changes} changes in the overview`,
      async () => await change(cluster, page, round),
    );
    await measure('show the reservations', async () => {
      await show('reservations');
      await page.getByText('load/data-').first().waitFor();
    });
    await measure('show the queue with its causes', async () => {
      await show('queue');
      await page.getByText('20 pods are pending').waitFor();
    });
    return rows;
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

async function scroll(page: Page, selector: string, steps: number): Promise<void> {
  await page.evaluate(`(async () => {
    const box = document.querySelector('${selector}');
    const step = (box.scrollHeight - box.clientHeight) / ${steps};
    for (let at = 0; at <= ${steps}; at += 1) {
      box.scrollTop = at * step;
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
    }
  })()`);
}

/** Changes the phase of some volumes, and to another one in each round, so that every write is a change. */
async function change(cluster: EmbeddedCluster, page: Page, round: ChangeRound): Promise<void> {
  round.number += 1;
  for (let at = 0; at < changes; at += 1) {
    const name = `disk-${String((at * 7) % round.volumes).padStart(6, '0')}`;
    const phase = (at + round.number) % 2 === 0 ? 'Released' : 'Bound';
    await cluster
      .resource(persistentVolumes)
      .patch({ name }, { type: 'merge', body: { status: { phase } } }, { subresource: 'status' });
    if (at % 20 === 0) await realClock.sleep(20, new AbortController().signal);
  }
  await page.waitForTimeout(500);
}

interface ChangeRound {
  number: number;
  readonly volumes: number;
}
