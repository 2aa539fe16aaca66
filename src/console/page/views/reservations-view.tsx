import type { ReservationsPage } from '../../wire/answers.ts';
import { useAnswer, useVersion } from '../context.ts';
import { countText, shownQuantity, shownTime } from '../format.ts';
import { AnswerState, Notes } from '../parts/answer-state.tsx';
import { VirtualGrid } from '../parts/virtual-grid.tsx';
import { PodLink } from './pod-view.tsx';

/** What is reserved: claims in flight, promised bytes, held volumes, nominated pods. */
export function ReservationsView() {
  const version = useVersion(['claim', 'volume', 'pool', 'pod'], 1_500);
  const answer = useAnswer<ReservationsPage>('reservations', version);
  return (
    <section aria-labelledby="reservations-title">
      <h1 id="reservations-title">Reservations</h1>
      <AnswerState answer={answer}>
        {(found) => (
          <>
            <h2>Claims whose volumes are being created</h2>
            <VirtualGrid
              label="Claims in flight"
              rows={found.claims}
              columns={[
                { title: 'Claim', render: ({ claim }) => claim, width: 'minmax(9rem, 2fr)' },
                { title: 'Node', render: ({ node }) => node },
                { title: 'Size', render: ({ size }) => shownQuantity(size), isNumber: true, width: '6rem' },
                { title: 'Pool', render: ({ pool }) => pool, isMinor: true },
                { title: 'State', render: ({ state }) => state, width: '7rem', isMinor: true },
                { title: 'Since', render: ({ waitingSince }) => since(waitingSince), isMinor: true },
                {
                  title: 'Pods',
                  render: ({ pods }) => pods.map((pod) => <PodLink id={pod} key={pod} />),
                  isMinor: true,
                },
              ]}
              keyOf={({ claim }) => claim}
              emptyText="No claim waits for its volume."
              heightRows={10}
            />
            <LeftOut count={found.leftOut.claims} />
            <h2>Promised bytes of pools</h2>
            <VirtualGrid
              label="Promises"
              rows={found.pools}
              columns={[
                { title: 'Pool', render: ({ pool }) => pool },
                { title: 'Class', render: ({ storageClass }) => storageClass, isMinor: true },
                {
                  title: 'Promised',
                  render: ({ promised }) => shownQuantity(promised),
                  isNumber: true,
                  width: '6rem',
                },
                { title: 'Free', render: ({ free }) => shownQuantity(free), isNumber: true, width: '6rem' },
                { title: 'To', render: ({ claims }) => claims.map(({ claim }) => claim).join(', ') },
              ]}
              keyOf={({ pool, storageClass }) => `${pool} ${storageClass}`}
              emptyText="No pool has promised bytes."
              heightRows={10}
            />
            <LeftOut count={found.leftOut.pools} />
            <h2>Volumes that are held for claims</h2>
            <VirtualGrid
              label="Held volumes"
              rows={found.volumes}
              columns={[
                { title: 'Claim', render: ({ claim }) => claim, width: 'minmax(9rem, 2fr)' },
                { title: 'Volume', render: ({ volume }) => volume, width: 'minmax(9rem, 2fr)' },
                { title: 'Size', render: ({ size }) => shownQuantity(size), isNumber: true, width: '6rem' },
                {
                  title: 'State',
                  render: ({ state }) => <span class={`state ${state}`}>{state}</span>,
                  width: '7rem',
                },
                { title: 'Bound by', render: ({ boundBy }) => boundBy, isMinor: true, width: '8rem' },
              ]}
              keyOf={({ volume }) => volume}
              emptyText="No volume is held."
              heightRows={10}
            />
            <LeftOut count={found.leftOut.volumes} />
            <h2>Nominated pods</h2>
            <VirtualGrid
              label="Nominated pods"
              rows={found.pods}
              columns={[
                { title: 'Pod', render: ({ pod }) => <PodLink id={pod} /> },
                { title: 'Node', render: ({ node }) => node },
                { title: 'Priority', render: ({ priority }) => priority, isNumber: true, width: '6rem' },
                { title: 'Since', render: ({ waitingSince }) => since(waitingSince), isMinor: true },
              ]}
              keyOf={({ pod }) => pod}
              emptyText="No pod waits for its victims."
              heightRows={6}
            />
            <LeftOut count={found.leftOut.pods} />
            <Notes notes={found.notes} />
          </>
        )}
      </AnswerState>
    </section>
  );
}

function LeftOut({ count }: { readonly count: number }) {
  return count === 0 ? null : <p class="dim">and {countText(count)} more</p>;
}

function since(time: string | undefined): string {
  return time === undefined ? '' : shownTime(Date.parse(time));
}
