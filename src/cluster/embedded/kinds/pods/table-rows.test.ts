import { expect, test } from 'vitest';
import { kindOf, read, recordedRows } from './testing/recorded.ts';

test.each(recordedRows())(
  'the row of $name is that of a real server',
  ({ object, nowMs, columns, cells }) => {
    const kind = kindOf(object);
    expect(kind.columns).toEqual(columns);
    expect(kind.row(read(kind, object), { nowMs })).toEqual(cells);
  },
);
