import { useMemo } from 'preact/hooks';
import type { QueueAnswer } from '../../wire/answers.ts';
import type { ConsoleDisk, ConsolePod, ConsolePool, ConsoleVolume } from '../../wire/rows.ts';
import { useAnswer, useNowMs, useRows, useStore, useVersion } from '../context.ts';
import { countText, shownTime } from '../format.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { FillBar, type FillProps, FillText } from '../parts/fill-bar.tsx';
import { linkTo } from '../routes.ts';

/** The state of the cluster on one page, also on paper. */
export function OverviewView() {
  const nowMs = useNowMs();
  const { about } = useStore();
  return (
    <section aria-labelledby="overview-title">
      <div class="title-line">
        <h1 id="overview-title">Overview</h1>
        <span class="dim">{shownTime(nowMs)}</span>
        <button type="button" class="no-print" onClick={() => print()}>
          Print
        </button>
        {about?.takenAtMs === null && (
          <a class="button no-print" href="/console/data/snapshot" download>
            Save a snapshot
          </a>
        )}
      </div>
      <Counters />
      <PendingCauses />
      <StorageByClass />
      <Zones />
    </section>
  );
}

function Counters() {
  const nodes = useRows('node', 500);
  const pods = useRows('pod', 500);
  const volumes = useRows('volume', 500);
  const claims = useRows('claim', 500);
  const disks = useRows('disk', 500);
  const podsIn = (...states: readonly ConsolePod['state'][]) =>
    pods.filter(({ state }) => states.includes(state)).length;
  const notReady = nodes.filter(({ isReady }) => !isReady).length;
  const rejected = disks.reduce((sum, disk) => sum + disk.rejected, 0);
  const pending = disks.reduce((sum, disk) => sum + disk.pending, 0);
  return (
    <ul class="counters">
      <Counter
        view="map"
        value={nodes.length}
        name="nodes"
        more={notReady === 0 ? 'all ready' : `${countText(notReady)} not ready`}
        isMoreBad={notReady > 0}
      />
      <Counter
        view="pods"
        value={podsIn('running')}
        name="pods running"
        more={`${countText(pods.length)} in all`}
      />
      <Counter
        view="queue"
        value={podsIn('pending', 'gated', 'binding', 'starting')}
        name="pods waiting"
        more={`${countText(podsIn('binding'))} binding, ${countText(podsIn('starting'))} starting`}
        isBad={podsIn('pending') > 0}
      />
      <Counter
        view="volumes"
        value={volumes.length}
        name="volumes"
        more={`${countText(volumes.filter(({ phase }) => phase === 'Available').length)} available`}
      />
      <Counter
        view="reservations"
        value={claims.filter(({ state }) => state === 'reserved').length}
        name="claims reserved"
        more={`${countText(claims.filter(({ state }) => state === 'waiting').length)} waiting`}
      />
      <Counter
        view="disks"
        value={disks.length}
        name="disks"
        more={`${countText(rejected)} rejected, ${countText(pending)} pending`}
        isMoreBad={rejected > 0}
      />
    </ul>
  );
}

function Counter(props: {
  readonly view: string;
  readonly value: number;
  readonly name: string;
  readonly more: string;
  readonly isBad?: boolean;
  readonly isMoreBad?: boolean;
}) {
  return (
    <li class={props.isBad === true ? 'counter bad-counter' : 'counter'}>
      <a href={linkTo(props.view)}>
        <strong>{countText(props.value)}</strong>
        <span>{props.name}</span>
        <span class={props.isMoreBad === true ? 'bad' : 'dim'}>{props.more}</span>
      </a>
    </li>
  );
}

function PendingCauses() {
  const version = useVersion(['pod', 'claim', 'node', 'pool'], 2_000);
  const answer = useAnswer<QueueAnswer>('queue', version);
  return (
    <>
      <h2>
        <a href={linkTo('queue')}>Waiting pods by cause</a>
      </h2>
      <AnswerState answer={answer}>
        {({ causes, summary }) =>
          causes.length === 0 ? (
            <p>{summary}</p>
          ) : (
            <ul class="short-causes">
              {causes.slice(0, 8).map(({ count, text }) => (
                <li key={text}>
                  <strong>{countText(count)}</strong> {text}
                </li>
              ))}
            </ul>
          )
        }
      </AnswerState>
    </>
  );
}

interface ClassFill extends FillProps {
  readonly name: string;
}

function StorageByClass() {
  const pools = useRows('pool', 1_000);
  const volumes = useRows('volume', 1_000);
  const disks = useRows('disk', 1_000);
  const fills = useMemo(() => {
    return [...poolFills(pools), ...volumeFills(volumes), ...diskFills(disks)];
  }, [pools, volumes, disks]);
  return (
    <>
      <h2>
        <a href={linkTo('capacity')}>Storage by class</a>
      </h2>
      <ul class="unit-list">
        {fills.map((fill) => (
          <li key={fill.name}>
            <span class="unit-name">{fill.name}</span>
            <FillBar {...fill} />
            <FillText {...fill} />
          </li>
        ))}
        {fills.length === 0 && <li class="dim">Nothing is known about storage.</li>}
      </ul>
    </>
  );
}

/** Pools on the same disks count once for each class. */
function poolFills(pools: readonly ConsolePool[]): readonly ClassFill[] {
  const sums = new Map<string, ClassFill>();
  const counted = new Set<string>();
  for (const pool of pools) {
    if (pool.isSummary) continue;
    const { source, storageClass, backing, usedBytes, promisedBytes, freeBytes, totalBytes } = pool;
    const name =
      source === 'Drive'
        ? 'drives'
        : storageClass === ''
          ? 'pools without a class'
          : `pools of class ${storageClass}`;
    if (counted.has(`${name}\0${backing}`)) continue;
    counted.add(`${name}\0${backing}`);
    const sum = sums.get(name) ?? { name, usedBytes: 0, promisedBytes: 0, totalBytes: 0 };
    sums.set(name, {
      name,
      usedBytes: sum.usedBytes + (usedBytes ?? 0),
      promisedBytes: sum.promisedBytes + promisedBytes,
      totalBytes: sum.totalBytes + (totalBytes ?? (usedBytes ?? 0) + promisedBytes + Math.max(0, freeBytes)),
    });
  }
  return [...sums.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One line. A disk that does not answer is not in the sum, as in the history of capacity. */
function diskFills(disks: readonly ConsoleDisk[]): readonly ClassFill[] {
  const unknown = disks.filter(({ limitBytes }) => limitBytes === null).length;
  if (disks.length === unknown) return [];
  const sum = { usedBytes: 0, promisedBytes: 0, totalBytes: 0 };
  for (const { limitBytes, scheduledBytes, pendingBytes } of disks) {
    if (limitBytes === null) continue;
    sum.usedBytes += scheduledBytes;
    sum.promisedBytes += pendingBytes;
    sum.totalBytes += limitBytes;
  }
  const name = unknown === 0 ? 'disks' : `disks (${countText(unknown)} of unknown size)`;
  return [{ name, ...sum, promisedWord: 'pending' }];
}

/** Volumes that exist before their claims; others are part of a pool. */
function volumeFills(volumes: readonly ConsoleVolume[]): readonly ClassFill[] {
  const sums = new Map<string, { usedBytes: number; totalBytes: number }>();
  for (const { storageClass, sizeBytes, phase, isProvisioned } of volumes) {
    if (isProvisioned) continue;
    const sum = sums.get(storageClass) ?? { usedBytes: 0, totalBytes: 0 };
    sums.set(storageClass, sum);
    sum.totalBytes += sizeBytes;
    if (phase !== 'Available') sum.usedBytes += sizeBytes;
  }
  return [...sums]
    .map(([storageClass, { usedBytes, totalBytes }]) => ({
      name: storageClass === '' ? 'volumes without a class' : `volumes of class ${storageClass}`,
      usedBytes,
      promisedBytes: 0,
      totalBytes,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function Zones() {
  const nodes = useRows('node', 1_000);
  const zones = useMemo(() => {
    const sums = new Map<string, { count: number; ready: number; cpu: number; cpuTotal: number }>();
    for (const { zone, isReady, cpu } of nodes) {
      const sum = sums.get(zone) ?? { count: 0, ready: 0, cpu: 0, cpuTotal: 0 };
      sums.set(zone, sum);
      sum.count += 1;
      sum.ready += isReady ? 1 : 0;
      sum.cpu += cpu[0] ?? 0;
      sum.cpuTotal += cpu[1];
    }
    return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  }, [nodes]);
  return (
    <>
      <h2>
        <a href={linkTo('map')}>Zones</a>
      </h2>
      <div class="table-box">
        <table>
          <thead>
            <tr>
              <th scope="col">Zone</th>
              <th scope="col" class="number">
                Nodes
              </th>
              <th scope="col" class="number">
                Ready
              </th>
              <th scope="col" class="number">
                CPU requested
              </th>
            </tr>
          </thead>
          <tbody>
            {zones.map(([zone, { count, ready, cpu, cpuTotal }]) => (
              <tr key={zone}>
                <th scope="row">{zone || 'no zone'}</th>
                <td class="number">{countText(count)}</td>
                <td class="number">{countText(ready)}</td>
                <td class="number">{cpuTotal === 0 ? '' : `${Math.round((100 * cpu) / cpuTotal)} %`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
