import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { App } from './app.tsx';
import { Connection, type ConnectionState } from './connection.ts';
import { StoreContext } from './context.ts';
import { PageStore } from './store.ts';
import { applyStoredTheme } from './theme.tsx';

const store = new PageStore();

function Root() {
  const [state, setState] = useState<ConnectionState>('loading');
  useEffect(() => {
    const connection = new Connection(store, (next) => {
      if (next === 'signedOut') location.reload();
      setState(next);
    });
    void connection.start();
  }, []);
  return (
    <StoreContext.Provider value={store}>
      <App connection={state} />
    </StoreContext.Provider>
  );
}

applyStoredTheme();
render(<Root />, document.body);
