import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import type { ConsoleRows, RowType } from '../wire/rows.ts';
import { PageStore } from './store.ts';

export const StoreContext = createContext(new PageStore());

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
      } catch (error) {
        if (stop.signal.aborted) return;
        setFetched((before) => ({
          ...before,
          problem: `the server does not answer: ${error}`,
          isLoading: false,
        }));
      }
    };
    void load();
    return () => stop.abort();
  }, [path, version]);
  // An answer to an earlier question is none to this one.
  return fetched.path === path ? fetched : { value: undefined, problem: undefined, isLoading: true };
}
