import { isIP } from 'node:net';

/**
 * Whether a request was meant for this server. A page of another site can resolve its own name to this server's address and read the answers
 * (DNS rebinding); its requests carry that name. So only addresses, `localhost` and the names that the operator chose are accepted.
 */
export function isAllowedHost(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return false;
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/i.exec(header);
  if (match === null) return false;
  const [, bracketed, plain = ''] = match;
  if (bracketed !== undefined) return isIP(bracketed) === 6;
  const host = plain.toLowerCase();
  return host === 'localhost' || isIP(host) === 4 || names.some((name) => name.toLowerCase() === host);
}

/** Whether a request that changes something comes from our own page: browsers name the origin of every such request. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  return (
    origin !== undefined && host !== undefined && origin.toLowerCase() === `https://${host.toLowerCase()}`
  );
}
