import { expect, test } from 'vitest';
import { pack, unpack } from './packing.ts';

const spec = {
  containers: [{ name: 'a container with a name that is long enough to be worth a reference' }],
};

test('repeated parts are packed as references and unpacked unchanged', () => {
  const answers = [
    { status: 201, body: { 'a/b~c': spec } },
    { status: 200, body: { spec, more: 1 } },
    { status: 404 },
  ];
  const packed = pack(answers);
  expect(packed[0]).toEqual(answers[0]);
  expect(packed[1]).toEqual({ status: 200, body: { spec: { '=': '0/body/a~1b~0c' }, more: 1 } });
  expect(unpack(JSON.parse(JSON.stringify(packed)))).toEqual(answers);
});

test('an answer has no references to itself', () => {
  const answers = [{ a: spec, b: spec }];
  expect(pack(answers)).toEqual(answers);
});
