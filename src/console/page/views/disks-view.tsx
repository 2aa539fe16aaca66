import { useState } from 'preact/hooks';
import type { DiskEntryLine } from '../../../queries/disks/disks-report.ts';
import type { DiskAnswer, WaitingVolumesAnswer } from '../../wire/answers.ts';
import type { ConsoleDisk } from '../../wire/rows.ts';
import { useAnswer, useNowMs, useRows, useStore, useVersion } from '../context.ts';
import { countText, pluralText, shownBytes } from '../format.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { FillBar, type FillProps, FillText } from '../parts/fill-bar.tsx';
import { FilterBox, useFilter } from '../parts/filter.tsx';
import { useMedia } from '../parts/use-media.ts';
import { VirtualGrid } from '../parts/virtual-grid.tsx';
import { goTo, linkTo } from '../routes.ts';

/** Disk schedules, with pending and rejected requests. */
export function DisksView({ id }: { readonly id: string }) {
  const disks = useRows('disk');
  const { filtered, text, setText, isSearching } = useFilter(
    disks,
    (disk) => `${disk.node} ${disk.disk} ${disk.zone} ${disk.state}`,
  );
  return (
    <section aria-labelledby="disks-title">
      <h1 id="disks-title">Disks</h1>
      <FilterBox
        label="Filter disks by node, name, zone or state"
        text={text}
        onText={setText}
        shown={filtered.length}
        total={disks.length}
        isSearching={isSearching}
      />
      <VirtualGrid
        label="Disks"
        rows={filtered}
        columns={[
          { title: 'Disk', render: ({ node, disk }) => `${node}/${disk}`, width: 'minmax(8rem, 1.4fr)' },
          { title: 'Zone', render: ({ zone }) => zone, isMinor: true },
          {
            title: 'State',
            render: ({ state, message }) => (
              <span class={`state ${state}`} title={message}>
                {state}
              </span>
            ),
            width: '8rem',
          },
          {
            title: 'Fill',
            render: (disk) => <FillText {...fillOf(disk)} />,
            width: 'minmax(9rem, 2fr)',
          },
          {
            title: 'Replicas',
            render: ({ replicas }) => replicas,
            isNumber: true,
            width: '5rem',
            isMinor: true,
          },
          {
            title: 'Pending',
            render: ({ pending }) => (pending > 0 ? <span class="state waiting">{pending}</span> : 0),
            isNumber: true,
            width: '5rem',
          },
          {
            title: 'Rejected',
            render: ({ rejected }) => (rejected > 0 ? <span class="bad">{rejected}</span> : 0),
            isNumber: true,
            width: '5.5rem',
          },
        ]}
        keyOf={(disk) => disk.id}
        isSelected={(disk) => disk.id === id}
        onOpen={(disk) => goTo('disks', disk.id)}
        emptyText="There is no such disk."
        heightRows={12}
      />
      {id !== '' && <DiskPanel id={id} />}
      <WaitingVolumes />
    </section>
  );
}

const waitingRefreshMs = 5_000;

/** A volume that fits on no disk may have no request on any: then the schedules do not show it. */
function WaitingVolumes() {
  const version = useVersion(['disk'], 1_000);
  const nowMs = useNowMs(waitingRefreshMs);
  const answer = useAnswer<WaitingVolumesAnswer>(
    'waitingvolumes',
    version + Math.floor(nowMs / waitingRefreshMs),
  );
  if (answer.value === undefined || answer.value.volumes.length === 0) return null;
  const { volumes, leftOut } = answer.value;
  return (
    <>
      <h2>Volumes that wait for a place</h2>
      <ul class="reasons" aria-label="Volumes that wait for a place">
        {volumes.map(({ volume, sizeBytes, replicasWanted, replicasPlaced, state, message }) => (
          <li key={volume}>
            <strong>{volume}</strong> {shownBytes(sizeBytes)}, {countText(replicasPlaced)} of{' '}
            {pluralText(replicasWanted, 'replica')} placed: <span class="bad">{state}</span>
            {message !== undefined && <div>{message}</div>}
          </li>
        ))}
        {leftOut > 0 && <li class="dim">and {countText(leftOut)} more</li>}
      </ul>
    </>
  );
}

function fillOf({ scheduledBytes, pendingBytes, limitBytes }: ConsoleDisk): FillProps {
  return {
    usedBytes: scheduledBytes,
    promisedBytes: pendingBytes,
    totalBytes: limitBytes ?? 0,
    isTotalUnknown: limitBytes === null,
    promisedWord: 'pending',
  };
}

function DiskPanel({ id }: { readonly id: string }) {
  const store = useStore();
  const version = useVersion(['disk'], 1_000);
  const answer = useAnswer<DiskAnswer>(`disk?id=${encodeURIComponent(id)}`, version);
  const [isOpenOnly, setOpenOnly] = useState(false);
  const disk = store.get('disk', id);
  if (disk === undefined) return <p>There is no disk {id}.</p>;
  return (
    <section aria-label={`Schedule of disk ${disk.node}/${disk.disk}`} class="panel">
      <div class="title-line">
        <h2>
          {disk.node}/{disk.disk}
        </h2>
        <a href={linkTo('disks')} aria-label="Close">
          ✕
        </a>
      </div>
      {disk.message !== '' && <p>{disk.message}</p>}
      <FillBar {...fillOf(disk)} />
      <FillText {...fillOf(disk)} />
      <p>
        {pluralText(disk.replicas, 'replica')}, {pluralText(disk.images, 'image')}, {disk.pending} pending,{' '}
        {disk.rejected} rejected
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={isOpenOnly}
          onChange={(event) => setOpenOnly(event.currentTarget.checked)}
        />{' '}
        only pending and rejected requests
      </label>
      <AnswerState answer={answer}>
        {({ entries }) => (
          <>
            <VirtualGrid
              label="Requests"
              rows={
                isOpenOnly
                  ? entries.filter(({ state }) => state === 'pending' || state === 'rejected')
                  : entries
              }
              columns={[
                {
                  title: 'Request',
                  render: ({ kind, name }) => `${kind} ${name}`,
                  width: 'minmax(9rem, 2fr)',
                },
                {
                  title: 'Claim or volume',
                  render: ({ claim, volume }) => claim ?? volume ?? '',
                  isMinor: true,
                },
                {
                  title: 'Requested',
                  render: ({ requestedBytes }) => shownBytes(requestedBytes),
                  isNumber: true,
                  width: '6rem',
                },
                {
                  title: 'Granted',
                  render: ({ scheduledBytes }) => shownBytes(scheduledBytes),
                  isNumber: true,
                  width: '6rem',
                  isMinor: true,
                },
                { title: 'Verdict', render: verdict, width: 'minmax(9rem, 2.2fr)' },
              ]}
              keyOf={({ kind, name }) => `${kind} ${name}`}
              emptyText={
                isOpenOnly ? 'No request is pending or rejected.' : 'No bytes of this disk are requested.'
              }
              heightRows={10}
            />
            <RejectedRequests entries={entries} />
          </>
        )}
      </AnswerState>
    </section>
  );
}

/** More of them are in the table only. */
const rejectedMax = 20;

/** On narrow screens a row of the table cuts off the reason. */
function RejectedRequests({ entries }: DiskAnswer) {
  const isNarrow = useMedia('(max-width: 600px)');
  const rejected = entries.filter(({ state }) => state === 'rejected');
  if (!isNarrow || rejected.length === 0) return null;
  return (
    <ul class="reasons" aria-label="Rejected requests">
      {rejected.slice(0, rejectedMax).map((request) => (
        <li key={`${request.kind} ${request.name}`}>
          <strong>
            {request.kind} {request.name}
          </strong>
          <div>{verdict(request)}</div>
        </li>
      ))}
      {rejected.length > rejectedMax && (
        <li class="dim">and {countText(rejected.length - rejectedMax)} more</li>
      )}
    </ul>
  );
}

function verdict({ state, reason, missingBytes }: DiskEntryLine) {
  return (
    <span class={`state ${state === 'pending' ? 'waiting' : state}`}>
      {state}
      {missingBytes !== undefined && missingBytes > 0 && `, lacks ${shownBytes(missingBytes)}`}
      {reason !== undefined && `: ${reason}`}
    </span>
  );
}
