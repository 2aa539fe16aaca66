import type { Check } from '../check.ts';
import { factValue } from '../facts.ts';

/** More are counted. */
const shownMax = 6;

export const rightChecks: readonly Check[] = [
  {
    subject: 'your rights to install',
    needs: ['missingCallerRights'],
    find: ({ missingCallerRights, server }) => {
      const missing = factValue(missingCallerRights);
      if (missing.length === 0) return [];
      const object = { kind: 'Cluster', name: server.url };
      return [{ code: 'CallerLacksRights', object, detail: `you may not ${listed(missing)}` }];
    },
  },
  {
    subject: 'the rights of the service accounts of Stowage',
    needs: ['accountRights'],
    find: ({ accounts }) =>
      factValue(accounts)
        .filter(({ missing }) => missing.length > 0)
        .map(({ namespace, name, missing }) => ({
          code: 'ComponentLacksRights',
          object: { kind: 'ServiceAccount', namespace, name },
          detail: `may not ${listed(missing)}`,
        })),
  },
];

function listed(rights: readonly string[]): string {
  const more = rights.length - shownMax;
  const shown = rights.slice(0, shownMax).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
