import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConnectionState, ConnectionStatus } from './connection.ts';
import { useNowMs, useStore } from './context.ts';
import { durationText, shownTime } from './format.ts';
import { linkTo, useRoute, type ViewRoute } from './routes.ts';
import { ThemeButton } from './theme.tsx';
import { CapacityView } from './views/capacity-view.tsx';
import { DisksView } from './views/disks-view.tsx';
import { MapView } from './views/map-view.tsx';
import { OverviewView } from './views/overview-view.tsx';
import { PodView } from './views/pod-view.tsx';
import { PodsView } from './views/pods-view.tsx';
import { QueueView } from './views/queue-view.tsx';
import { ReservationsView } from './views/reservations-view.tsx';
import { VolumesView } from './views/volumes-view.tsx';
import { WhatIfView } from './views/what-if-view.tsx';

const views: readonly { readonly view: string; readonly title: string }[] = [
  { view: 'overview', title: 'Overview' },
  { view: 'map', title: 'Map' },
  { view: 'queue', title: 'Queue' },
  { view: 'pods', title: 'Pods' },
  { view: 'volumes', title: 'Volumes' },
  { view: 'reservations', title: 'Reservations' },
  { view: 'disks', title: 'Disks' },
  { view: 'capacity', title: 'Capacity' },
  { view: 'what-if', title: 'What if' },
];

const stateTexts: Readonly<Record<ConnectionState, string>> = {
  loading: 'Loading',
  live: 'Live',
  frozen: 'Frozen',
  interrupted: 'Connection lost',
  signedOut: 'Signed out',
};

export function App({ connection }: { readonly connection: ConnectionStatus }) {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const nav = useRef<HTMLElement>(null);
  const [isFirst, setFirst] = useState(true);
  // After a change of the view, keyboard and screen reader start at its beginning.
  useEffect(() => {
    document.title = `${titleOf(route)} · Stowage`;
    // On a narrow screen the views are wider than their line.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    if (isFirst) setFirst(false);
    else main.current?.focus();
  }, [route.view, route.view === 'pod' ? route.id : '']);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the contents
      </a>
      <Head connection={connection.state} />
      <nav aria-label="Views" ref={nav}>
        {views.map(({ view, title }) => (
          <a href={linkTo(view)} aria-current={isCurrent(view, route) ? 'page' : undefined} key={view}>
            {title}
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1} ref={main}>
        {connection.lostAtMs !== undefined && <ConnectionLost atMs={connection.lostAtMs} />}
        <Hidden />
        {connection.state === 'loading' ? <p class="dim">Reading the cluster…</p> : <View route={route} />}
      </main>
    </>
  );
}

function Head({ connection }: { readonly connection: ConnectionState }) {
  const { about } = useStore();
  const takenAt = about?.takenAtMs;
  return (
    <header>
      <span class="brand">
        <img src="/console/assets/icon.svg" alt="" width="22" height="22" /> Stowage
      </span>
      <span class="server">{about?.server}</span>
      <span class={`connection ${connection}`} role="status">
        {takenAt != null ? `Frozen: ${shownTime(takenAt)}` : stateTexts[connection]}
      </span>
      <ThemeButton />
      {takenAt == null && (
        <form method="post" action="/console/logout" class="no-print">
          <button type="submit">Sign out</button>
        </form>
      )}
    </header>
  );
}

/** What is shown may be old; the viewer has to know since when. */
function ConnectionLost({ atMs }: { readonly atMs: number }) {
  const nowMs = useNowMs(1_000);
  return (
    <p class="problem" role="alert">
      The connection to the server was lost at <time>{shownTime(atMs)}</time>. The page shows the state of
      that time, and connects again by itself
      <span aria-hidden="true"> ({durationText(Math.round((nowMs - atMs) / 1_000) * 1_000)} ago)</span>.
    </p>
  );
}

function Hidden() {
  const { about } = useStore();
  if (about === undefined || about.hidden.length === 0) return null;
  return <p class="hidden-note">{about.hidden.join(' ')}</p>;
}

function View({ route: { view, id } }: { readonly route: ViewRoute }) {
  switch (view) {
    case 'overview':
      return <OverviewView />;
    case 'map':
      return <MapView id={id} />;
    case 'queue':
      return <QueueView />;
    case 'pods':
      return <PodsView />;
    case 'pod':
      return <PodView id={id} key={id} />;
    case 'volumes':
      return <VolumesView />;
    case 'reservations':
      return <ReservationsView />;
    case 'disks':
      return <DisksView id={id} />;
    case 'capacity':
      return <CapacityView />;
    case 'what-if':
      return <WhatIfView />;
    default:
      return <p>There is no such view.</p>;
  }
}

function isCurrent(view: string, route: ViewRoute): boolean {
  return route.view === view || (route.view === 'pod' && view === 'pods');
}

function titleOf({ view, id }: ViewRoute): string {
  if (view === 'pod') return `Pod ${id}`;
  return views.find((each) => each.view === view)?.title ?? 'Console';
}
