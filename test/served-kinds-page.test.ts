import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../src/apiserver/kinds/built-in-kinds.ts';
import { resourceKinds } from '../src/apiserver/kinds/resource/index.ts';
import type { ServedKind } from '../src/apiserver/kinds/served-kind.ts';
import { apiVersionOf } from '../src/kube/resource.ts';

// `npx vitest run served-kinds -u` updates the page.
test('docs/served-kinds.md lists the served kinds', async () => {
  await expect(page()).toMatchFileSnapshot(join(import.meta.dirname, '../docs/served-kinds.md'));
});

function page(): string {
  const kinds = [...builtInKindCatalog().all].sort((a, b) => sortKey(a).localeCompare(sortKey(b), 'en'));
  return [
    '# Served kinds',
    '',
    'The kinds that the embedded API server serves. Other kinds are absent from discovery. The server stores, defaults, watches and pages all',
    'kinds, and shows them as tables. Rules: `yes` means that the server validates objects and refuses changes of immutable fields, with the',
    'messages of Kubernetes; `few` means that it mostly stores objects, for programs that list them. This page is generated from the code.',
    '',
    '| kind | resource | namespaced | subresources | selectable fields | rules |',
    '|---|---|---|---|---|---|',
    ...kinds.map(row),
    '',
  ].join('\n');
}

function sortKey(kind: ServedKind): string {
  return `${kind.group} ${kind.plural}`;
}

function row(kind: ServedKind): string {
  const own = kind.subresources?.map(({ name }) => name) ?? [];
  const subresources = [...(kind.hasStatus ? ['status'] : []), ...(kind.scale ? ['scale'] : []), ...own];
  const cells = [
    `\`${apiVersionOf(kind)}\` ${kind.kind}`,
    [kind.plural, ...(kind.shortNames ?? [])].join(', '),
    kind.namespaced ? 'yes' : 'no',
    subresources.join(', '),
    Object.keys(kind.selectableFields ?? {}).join(', '),
    resourceKinds.includes(kind) ? 'few' : 'yes',
  ];
  return `| ${cells.join(' | ')} |`;
}
