import { isPrintable, utf8Length } from '../../kube/go/quote.ts';

/** Longer names are truncated. */
const nameBytesMax = 128;

/** The name of the writer if the request does not set one: the User-Agent up to its first slash. May be empty. */
export function managerFromUserAgent(userAgent: string): string {
  const [product = ''] = userAgent.split('/', 1);
  let name = '';
  let bytes = 0;
  for (const character of product) {
    if (!isPrintable(character)) continue;
    bytes += utf8Length(character);
    if (bytes > nameBytesMax) break;
    name += character;
  }
  return name;
}
