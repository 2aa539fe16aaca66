import { type FullResponse, pageNotFound, textResponse } from './full-response.ts';

/** Returns undefined if healthy, otherwise the problem. */
export type HealthCheck = () => string | undefined;

export type HealthChecks = Readonly<Record<string, HealthCheck>>;

export type HealthPage = 'healthz' | 'livez' | 'readyz';

/**
 * `/healthz`, `/livez` and `/readyz`: `ok`, or a line for each check if one fails or `?verbose` is set. `rest` names a
 * single check, as in `/readyz/ping`. Problems are not shown, because these pages need no token.
 */
export function healthResponse(
  request: { readonly query: URLSearchParams },
  page: HealthPage,
  rest: string,
  checks: HealthChecks,
): FullResponse {
  const all: HealthChecks = { ping: () => undefined, ...checks };
  if (rest !== '') return single(Object.hasOwn(all, rest) ? all[rest] : undefined);
  const excluded = new Set(request.query.getAll('exclude'));
  const results = Object.entries(all)
    .filter(([name]) => !excluded.has(name))
    .map(([name, check]) => ({ name, isWell: check() === undefined }));
  const isWell = results.every((result) => result.isWell);
  if (isWell && !request.query.has('verbose')) return textResponse(200, 'ok');
  const lines = results.map((result) =>
    result.isWell ? `[+]${result.name} ok\n` : `[-]${result.name} failed: reason withheld\n`,
  );
  const verdict = isWell ? `${page} check passed\n` : `${page} check failed\n`;
  return textResponse(isWell ? 200 : 500, `${lines.join('')}${verdict}`);
}

function single(check: HealthCheck | undefined): FullResponse {
  if (check === undefined) return pageNotFound();
  return check() === undefined
    ? textResponse(200, 'ok')
    : textResponse(500, 'internal server error: check failed\n');
}
