import { useEffect, useState } from 'preact/hooks';

/** The view that the address names: `#/pod/shop/db-0`. */
export interface ViewRoute {
  readonly view: string;
  /** The rest, unescaped. */
  readonly id: string;
}

export function routeOf(hash: string): ViewRoute {
  const [, view = '', ...rest] = hash.replace(/^#/, '').split('/');
  return { view: view === '' ? 'overview' : view, id: unescaped(rest.join('/')) };
}

/** An address that was cut or edited by hand may end in the middle of an escaped character. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function linkTo(view: string, id = ''): string {
  return id === '' ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}

export function goTo(view: string, id = ''): void {
  location.hash = linkTo(view, id);
}

export function useRoute(): ViewRoute {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const update = () => setRoute(routeOf(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}
