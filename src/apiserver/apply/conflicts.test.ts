import { expect, test } from 'vitest';
import { leaf } from '../managed-fields/field-set.ts';
import type { Manager } from '../managed-fields/managers.ts';
import { applyConflict } from './conflicts.ts';

const owner: Manager = {
  name: 'one',
  operation: 'Update',
  apiVersion: 'apps/v1',
  subresource: '',
  time: '',
  fields: leaf,
  entry: undefined,
};

const image = {
  'f:spec': { 'f:containers': { 'k:{"name":"web"}': { 'f:image': leaf } }, 'f:replicas': leaf },
};

test('one conflict has a message of one line', () => {
  const { status } = applyConflict([{ manager: owner, fields: { 'f:data': { 'f:a': leaf } } }]);
  expect(status).toMatchObject({
    code: 409,
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "one" using apps/v1: .data.a',
    details: {
      causes: [
        { reason: 'FieldManagerConflict', message: 'conflict with "one" using apps/v1', field: '.data.a' },
      ],
    },
  });
});

test('several conflicts are listed by manager, and the paths of one level before those below it', () => {
  const applier: Manager = { ...owner, name: 'a "b"', operation: 'Apply', subresource: 'status' };
  const { message } = applyConflict([
    { manager: owner, fields: image },
    { manager: applier, fields: { 'f:x': { 'v:"y"': leaf, 'k:{"a":1,"b":true}': leaf } } },
  ]);
  expect(message).toBe(
    [
      'Apply failed with 4 conflicts: conflicts with "a \\"b\\"" with subresource "status":',
      '- .x[="y"]',
      '- .x[a=1,b=true]',
      'conflicts with "one" using apps/v1:',
      '- .spec.replicas',
      '- .spec.containers[name="web"].image',
    ].join('\n'),
  );
});
