import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * The proxy for a server, as most programs read the environment: HTTPS_PROXY or HTTP_PROXY by the server's scheme, unless
 * NO_PROXY names the server. This machine itself is never reached through a proxy.
 */
export function proxyFromEnvironment(server: URL, env: NodeJS.ProcessEnv): string | undefined {
  const proxy =
    server.protocol === 'https:' ? (env.HTTPS_PROXY ?? env.https_proxy) : (env.HTTP_PROXY ?? env.http_proxy);
  if (proxy === undefined || proxy === '') return undefined;
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (isThisMachine(host)) return undefined;
  const exceptions = (env.NO_PROXY ?? env.no_proxy ?? '')
    .split(',')
    .map((entry) => entry.trim().toLowerCase());
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  if (exceptions.some((entry) => matches(entry, host, port))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** One entry of NO_PROXY: `*`, an address, a block of addresses, a domain with all below it, each perhaps with a port. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isInBlock(entry, host);
  const withPort = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry);
  if (withPort !== null && withPort[2] !== port) return false;
  const name = (withPort?.[1] ?? entry).replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host;
  const domain = name.replace(/^\*?\./, '');
  const isBelow = host.endsWith(`.${domain}`);
  return name.startsWith('.') || name.startsWith('*.') ? isBelow : isBelow || host === domain;
}

function isInBlock(entry: string, host: string): boolean {
  const [network = '', prefix = ''] = entry.split('/');
  if (isIP(host) === 0 || isIP(network) !== isIP(host) || !/^\d{1,3}$/.test(prefix)) return false;
  const family = isIPv6(host) ? 'ipv6' : 'ipv4';
  if (Number(prefix) > (family === 'ipv6' ? 128 : 32)) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(prefix), family);
  return block.check(host, family);
}
