import { type ApiError, failure } from '../../kube/api-error.ts';
import { goQuoted } from '../../kube/go/quote.ts';
import { compareUtf8 } from '../../kube/sorted-keys.ts';
import { type FieldSet, isEmptySet } from '../managed-fields/field-set.ts';
import { identityOf, type Manager } from '../managed-fields/managers.ts';
import type { PathElement } from '../managed-fields/path-element.ts';
import { pathText } from '../managed-fields/path-text.ts';

/** Fields that an applier would change although another manager owns them. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** The error response to an apply that was not forced. */
export function applyConflict(conflicts: readonly Conflict[]): ApiError {
  const listed = conflicts
    .filter(({ fields }) => !isEmptySet(fields))
    .toSorted((a, b) => compareUtf8(identityOf(a.manager), identityOf(b.manager)))
    .map(({ manager, fields }) => ({ who: managerText(manager), paths: reportedPaths(fields) }));
  const causes = listed.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  return failure(409, 'Conflict', conflictMessage(listed, causes.length), { causes });
}

/** Further conflicts of a manager are not listed: keys of a custom resource can be very long, and every path repeats them. */
const charactersMax = 64 * 1024;

function reportedPaths(fields: FieldSet): readonly string[] {
  const texts: string[] = [];
  let characters = 0;
  for (const path of pathsByLevel(fields)) {
    if (characters > charactersMax) break;
    const text = pathText(path);
    characters += text.length;
    texts.push(text);
  }
  return texts;
}

interface ListedConflict {
  readonly who: string;
  readonly paths: readonly string[];
}

function conflictMessage(listed: readonly ListedConflict[], count: number): string {
  if (count === 1) {
    return `Apply failed with 1 conflict: conflict with ${listed[0]!.who}: ${listed[0]!.paths[0]!}`;
  }
  const lines = listed.flatMap(({ who, paths }) => [
    `conflicts with ${who}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

function managerText({ name, operation, apiVersion, subresource }: Manager): string {
  const who = goQuoted(name) + (subresource === '' ? '' : ` with subresource ${goQuoted(subresource)}`);
  return operation === 'Update' ? `${who} using ${apiVersion}` : who;
}

/** Kubernetes lists the paths of one level before the paths below them. */
function pathsByLevel(
  set: FieldSet,
  prefix: readonly PathElement[] = [],
): readonly (readonly PathElement[])[] {
  const elements = Object.keys(set).filter((element) => element !== '.');
  const here = elements.filter((element) => isEmptySet(set[element]!) || '.' in set[element]!);
  return [
    ...here.map((element) => [...prefix, element]),
    ...elements.flatMap((element) => pathsByLevel(set[element]!, [...prefix, element])),
  ];
}
