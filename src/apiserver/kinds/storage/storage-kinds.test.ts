import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { StatusCause } from '../../../kube/api/status.ts';
import { normalize } from '../../schema/normalize.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { checkObjectMeta, checkObjectMetaUpdate } from '../../validation/object-meta.ts';
import type { Kind, Moment, StoredObject, TableCell } from '../kind.ts';
import { storageKinds } from './index.ts';

/** What a real server answered; the README beside the file says how it was asked. */
interface Answer {
  readonly case: string;
  readonly operation: 'create' | 'update' | 'status' | 'row';
  readonly given: StoredObject;
  readonly old?: StoredObject;
  readonly causes?: readonly StatusCause[];
  readonly stored?: StoredObject;
  readonly warnings?: readonly string[];
  readonly columns?: Kind['columns'];
  readonly cells?: readonly TableCell[];
}

const answers: readonly Answer[] = readFileSync(new URL('./testing/answers.ndjson', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

const moment: Moment = { nowMs: Date.UTC(2026, 0, 1, 0, 0, 5) };

describe.each(['create', 'update', 'status'] as const)('to %s', (operation) => {
  test.each(answers.filter((answer) => answer.operation === operation))('$case', (answer) => {
    const { causes, stored, warnings } = ask(answer);
    if (answer.causes !== undefined) {
      expect(distinct(causes)).toEqual(distinct(answer.causes));
      return;
    }
    expect(causes).toEqual([]);
    expect(stored).toEqual(answer.stored);
    expect(warnings).toEqual(answer.warnings ?? []);
  });
});

describe('in a table', () => {
  test.each(answers.filter(({ operation }) => operation === 'row'))('$case', ({ given, columns, cells }) => {
    const kind = kindOf(given);
    expect(kind.columns).toEqual(columns);
    expect(kind.row(read(kind, given), moment)).toEqual(cells);
  });
});

/** What the registry does around a kind, but for the storing. */
function ask({
  operation,
  given,
  old: oldGiven,
}: Answer): Required<Pick<Answer, 'causes' | 'stored' | 'warnings'>> {
  const kind = kindOf(given);
  const object = read(kind, given);
  const errors = new FieldErrors();
  kind.defaults?.(object);
  const old = oldGiven && read(kind, oldGiven);
  if (old === undefined) {
    kind.prepareCreate?.(object, moment);
    checkObjectMeta(errors, object.metadata, kind);
    kind.validate(object, errors);
  } else if (operation === 'status') {
    kind.prepareStatus?.(object, old, moment);
    checkMetaUpdate(kind, object, old, errors);
    kind.validateStatus?.(object, old, errors);
  } else {
    kind.prepareUpdate?.(object, old, moment);
    checkMetaUpdate(kind, object, old, errors);
    (kind.validateUpdate ?? kind.validate.bind(kind))(object, old as never, errors);
  }
  const warnings = operation === 'status' ? [] : (kind.warnings?.(object, old) ?? []);
  return { causes: errors.causes, stored: withoutAbsent(object), warnings };
}

function kindOf({ kind }: StoredObject): Kind {
  const found = storageKinds.find((candidate) => candidate.kind === kind);
  if (found === undefined) throw new Error(`${kind} is not among the kinds of storage`);
  return found;
}

function read(kind: Kind, given: StoredObject): StoredObject {
  return normalize(kind.type, given).object as unknown as StoredObject;
}

/** The registry has compared the versions before. */
function checkMetaUpdate(kind: Kind, object: StoredObject, old: StoredObject, errors: FieldErrors): void {
  checkObjectMeta(errors, object.metadata, kind);
  checkObjectMetaUpdate(errors, { ...object.metadata, resourceVersion: '1' }, old.metadata);
}

/** Kubernetes applies some rules two to four times, and then tells the same as often. */
function distinct(causes: readonly StatusCause[]): readonly StatusCause[] {
  return [...new Map(causes.map((cause) => [JSON.stringify(Object.entries(cause).sort()), cause])).values()];
}

/** Times were taken out of the answers. */
function withoutAbsent(object: StoredObject): StoredObject {
  const copy: StoredObject & { status?: { lastPhaseTransitionTime?: string } } = JSON.parse(
    JSON.stringify(object),
  );
  delete copy.status?.lastPhaseTransitionTime;
  return copy;
}
