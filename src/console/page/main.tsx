import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { App } from './app.tsx';
import { Connection, type ConnectionStatus } from './connection.ts';
import { ConnectionNumber, StoreContext } from './context.ts';
import { PageStore } from './store.ts';
import { applyStoredTheme } from './theme.tsx';

const store = new PageStore();

interface Connected extends ConnectionStatus {
  /** How often the connection has been made. */
  readonly number: number;
}

function Root() {
  const [connected, setConnected] = useState<Connected>({ state: 'loading', number: 0 });
  useEffect(() => {
    const connection = new Connection(store, (status) => {
      if (status.state === 'signedOut') location.reload();
      setConnected((before) => nextOf(before, status));
    });
    void connection.start();
  }, []);
  return (
    <StoreContext.Provider value={store}>
      <ConnectionNumber.Provider value={connected.number}>
        <App connection={connected} />
      </ConnectionNumber.Provider>
    </StoreContext.Provider>
  );
}

/** The same object if nothing is different, as every event of the stream says that it is live. */
function nextOf(before: Connected, { state, lostAtMs }: ConnectionStatus): Connected {
  if (before.state === state && before.lostAtMs === lostAtMs) return before;
  const isNew = state === 'live' || state === 'frozen';
  return { state, number: before.number + (isNew ? 1 : 0), ...(lostAtMs !== undefined && { lostAtMs }) };
}

applyStoredTheme();
render(<Root />, document.body);
