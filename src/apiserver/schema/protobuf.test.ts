import { describe, expect, test } from 'vitest';
import { jsonText } from '../../kube/go/json-text.ts';
import { JsonSyntaxError } from './json-reader.ts';
import { normalize } from './normalize.ts';
import { readEnvelope, readMessage } from './protobuf.ts';
import { goldenObjects } from './testing/golden.ts';
import { WireError } from './wire-reader.ts';

describe('the bytes that Go writes', () => {
  test.each(goldenObjects)(
    'of $type filled with $filled say what its JSON says',
    ({ type, protobuf, json }) => {
      const { apiVersion, kind, raw } = readEnvelope(Buffer.from(protobuf, 'base64'));
      const { object } = normalize(type, { kind, apiVersion, ...readMessage(type, raw) });
      expect(jsonText(object)).toBe(jsonText(json));
    },
  );
});

describe('bytes that are broken', () => {
  const pod = goldenObjects.find(({ type, filled }) => type === 'core/v1.Pod' && filled === 'values');
  const bytes = Buffer.from(pod?.protobuf ?? '', 'base64');

  test('in the middle end in an error or a shorter object', () => {
    const outcomes = { read: 0, refused: 0 };
    for (let length = 0; length < bytes.length; length++) outcomes[outcomeOf(bytes.subarray(0, length))] += 1;
    expect(outcomes.refused).toBeGreaterThan(outcomes.read);
  });

  test.each([0x00, 0x01, 0x7f, 0x80, 0xff])(
    'by a byte %i in many places end in an error or an object',
    (byte) => {
      // A prime step, so that it hits tags, lengths and values.
      for (let at = byte % 13; at < bytes.length; at += 13) {
        const changed = Buffer.from(bytes);
        changed[at] = byte;
        outcomeOf(changed);
      }
    },
  );

  test.each([
    ['nothing', '', 'empty data'],
    [
      'JSON',
      '7b7d',
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    ['only the magic', '6b387300', 'empty body'],
    ['a field without its value', '6b3873000a', 'unexpected EOF'],
    ['a length beyond the end', '6b387300120a41', 'unexpected EOF'],
    ['a number without end', '6b387300ffffffffffffffffffffff', 'proto: integer overflow'],
    ['field 0', '6b38730000', 'proto: Unknown: illegal tag 0 (wire type 0)'],
    ['the end of a group', '6b3873000c', 'proto: Unknown: wiretype end group for non-group'],
    ['a wire type that does not exist', '6b3873003f', 'proto: illegal wireType 7'],
    ['a group without end', '6b3873003b3b3b', 'unexpected EOF'],
  ])('have the messages of Go: %s', (_, hex, message) => {
    expect(() => readEnvelope(Buffer.from(hex, 'hex'))).toThrow(new WireError(message));
  });

  test('a value of the wrong wire type names the field', () => {
    expect(() => readMessage('core/v1.Pod', Buffer.from('0801', 'hex'))).toThrow(
      'proto: wrong wireType = 0 for field ObjectMeta',
    );
  });
});

test('numbers may be packed or single, and unknown fields are skipped', () => {
  // supplementalGroups is field 4 of a list of int64: packed [1, 300], single 5; fields 99 (a text) and 98 (a group).
  const hex = '2203' + '01ac02' + '2005' + '9a0602aabb' + '930608019406';
  expect(readMessage('core/v1.PodSecurityContext', Buffer.from(hex, 'hex'))).toEqual({
    supplementalGroups: [1, 300, 5],
  });
});

test('a message in several parts is merged', () => {
  // metadata {name: a} and again metadata {namespace: b}.
  const hex = '0a030a0161' + '0a031a0162';
  expect(readMessage('core/v1.ConfigMap', Buffer.from(hex, 'hex'))).toEqual({
    metadata: { name: 'a', namespace: 'b' },
  });
});

function outcomeOf(bytes: Buffer): 'read' | 'refused' {
  try {
    readMessage('core/v1.Pod', readEnvelope(bytes).raw);
    return 'read';
  } catch (error) {
    if (!isExpected(error)) throw error;
    return 'refused';
  }
}

function isExpected(error: unknown): boolean {
  return error instanceof WireError || error instanceof JsonSyntaxError;
}
