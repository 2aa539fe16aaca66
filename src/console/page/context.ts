import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import type { ConsoleRows, RowType } from '../wire/rows.ts';
import { PageStore } from './store.ts';

export const StoreContext = createContext(new PageStore());

/** Incremented by each reconnection: requests that failed meanwhile are sent again. */
export const ConnectionNumber = createContext(0);

export function useStore(): PageStore {
  return useContext(StoreContext);
}

/** Renders again when rows of these types change, at most as often as `everyMs`. */
export function useVersion(types: readonly RowType[], everyMs = 0): number {
  const store = useStore();
  const [version, setVersion] = useState(0);
  const key = types.join();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastMs = 0;
    const bump = () => {
      timer = undefined;
      lastMs = performance.now();
      setVersion((before) => before + 1);
    };
    const stop = store.subscribe((changed) => {
      if (!types.some((type) => changed.has(type)) || timer !== undefined) return;
      const waitMs = everyMs - (performance.now() - lastMs);
      if (waitMs <= 0) bump();
      else timer = setTimeout(bump, waitMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store, key, everyMs]);
  return version;
}

/** All rows of a type by id, kept up to date. */
export function useRows<T extends RowType>(type: T, everyMs = 250): readonly ConsoleRows[T][] {
  const store = useStore();
  const version = useVersion([type], everyMs);
  return useMemo(() => store.all(type), [store, type, version]);
}

/** The time, again every `everyMs`: durations until now grow while nothing else changes. A frozen state has the time when it was taken. */
export function useNowMs(everyMs = 5_000): number {
  const { about } = useStore();
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return about?.takenAtMs ?? Math.max(nowMs, Date.now());
}

export interface Fetched<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  readonly isLoading: boolean;
}

/** Fetches an answer again whenever `version` changes; one request at a time, the latest wins. */
export function useAnswer<T>(path: string | undefined, version: number): Fetched<T> {
  const [fetched, setFetched] = useState<Fetched<T> & { readonly path: string | undefined }>({
    value: undefined,
    problem: undefined,
    isLoading: true,
    path,
  });
  const connection = useContext(ConnectionNumber);
  useEffect(() => {
    if (path === undefined) return;
    const stop = new AbortController();
    const load = async () => {
      try {
        const response = await fetch(`/console/data/${path}`, { signal: stop.signal });
        const body = await response.json();
        if (response.status === 401) location.reload();
        if (response.ok) setFetched({ value: body as T, problem: undefined, isLoading: false, path });
        else setFetched({ value: undefined, problem: String(body.message), isLoading: false, path });
      } catch {
        if (stop.signal.aborted) return;
        setFetched((before) => ({
          ...before,
          problem: 'The server does not answer. The page asks again when the connection is back.',
          isLoading: false,
        }));
      }
    };
    void load();
    return () => stop.abort();
  }, [path, version, connection]);
  // An answer to an earlier question is none to this one.
  return fetched.path === path ? fetched : { value: undefined, problem: undefined, isLoading: true };
}
