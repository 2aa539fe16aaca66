import { badRequest } from '../../../kube/api-error.ts';
import { parseGoDuration } from '../../../kube/go/duration.ts';
import { goQuoted } from '../../../kube/go/quote.ts';

/**
 * Refuses an invalid `timeout` parameter with kube-apiserver's message. A valid one is ignored: no request of this server
 * takes long.
 */
export function checkTimeoutParameter(query: URLSearchParams): void {
  const text = query.get('timeout') ?? '';
  if (text === '' || parseGoDuration(text) !== undefined) return;
  throw badRequest(`invalid timeout specified in the request URL - time: ${durationProblem(text)}`);
}

/** The message of Go's time.ParseDuration. */
function durationProblem(text: string): string {
  const quoted = goQuoted(text);
  let rest = text.replace(/^[+-]/, '');
  while (rest !== '') {
    const [number = ''] = /^(?:\d+\.?\d*|\.\d+)/.exec(rest) ?? [];
    if (number === '') return `invalid duration ${quoted}`;
    const [unit = ''] = /^[^\d.]*/.exec(rest.slice(number.length)) ?? [];
    if (unit === '') return `missing unit in duration ${quoted}`;
    if (!units.has(unit)) return `unknown unit ${goQuoted(unit)} in duration ${quoted}`;
    rest = rest.slice(number.length + unit.length);
  }
  return `invalid duration ${quoted}`;
}

const units: ReadonlySet<string> = new Set(['ns', 'us', '\u00b5s', '\u03bcs', 'ms', 's', 'm', 'h']);
