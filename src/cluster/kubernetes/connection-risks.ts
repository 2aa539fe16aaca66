import type { ConnectionSettings, UserSettings } from './connection-settings.ts';

/** What others on the network could read or forge with these settings, as sentences for the user. */
export function connectionRisks(settings: ConnectionSettings): readonly string[] {
  const { source, server, insecureSkipTlsVerify, user } = settings;
  const { protocol, hostname } = new URL(server);
  if (protocol === 'http:')
    return hasSecret(user) && !isLoopback(hostname)
      ? [
          `${source}: the credentials are sent to ${server} without encryption, and others on the network can read them; use https`,
        ]
      : [];
  return insecureSkipTlsVerify === true
    ? [
        `${source}: insecure-skip-tls-verify is set, so any server on the way to ${server} can read and change everything; set certificate-authority instead`,
      ]
    : [];
}

/** A client certificate is not sent without TLS. */
function hasSecret({ token, tokenFile, username, exec }: UserSettings): boolean {
  return [token, tokenFile, username, exec].some((each) => each !== undefined);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}
