/** Where a server listens. Without a host it listens on every address of the machine, IPv4 and IPv6. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** `HOST:PORT`, such as `127.0.0.1:8900`, `[::1]:8900`, or `:8900` for every address; undefined if the text is invalid. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, bracketed, plain = '', digits = ''] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) return undefined;
  return { host: (bracketed ?? plain) || undefined, port };
}
