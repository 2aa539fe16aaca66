import { describe, expect, test } from 'vitest';
import type { StatusCause } from '../../kube/api/meta.ts';
import { builtInKindCatalog } from './built-in-kinds.ts';
import {
  type RecordedWrite,
  recordedAnswer,
  replayWrite,
  type WriteAnswer,
} from './testing/recorded-writes.ts';
import { readRecordings } from './testing/recordings.ts';

/**
 * Cases, or whole folders, in which kube-apiserver reports causes in no fixed order or more than once: it iterates over Go maps, or
 * applies a rule twice.
 */
const inAnyOrder: ReadonlySet<string> = new Set([
  'apiextensions',
  'core/nodes: wrong capacity',
  'core/pods: annotations',
  'core/pods: wrong resources',
  'core/volumes: a claim with labels that are wrong',
  'core/volumes: a volume that loses its capacity',
]);

/** Known differences, with the reason. */
const differences: Readonly<Record<string, string>> = {
  'AppArmor by annotation':
    'kube-apiserver computes the warning before it fills in the field; we ask kinds for warnings afterwards',
};

const catalog = builtInKindCatalog();
const recordings = readRecordings<RecordedWrite>('writes.ndjson');

describe.each(recordings.map((recording) => [recording.folder, recording.lines] as const))(
  '%s answers as kube-apiserver does',
  (folder, lines) => {
    const expected = lines.filter(({ name }) => !(name in differences));
    test.each(expected.map((write) => [`${write.does} ${write.object.kind}: ${write.name}`, write] as const))(
      '%s',
      (_name, write) => {
        const [answer, recorded] = answersTo(write);
        const isOrdered = !inAnyOrder.has(folder) && !inAnyOrder.has(`${folder}: ${write.name}`);
        expect(isOrdered ? answer : asSets(answer)).toEqual(isOrdered ? recorded : asSets(recorded));
      },
    );
  },
);

test('the recordings contain the known differences', () => {
  const writes = recordings.flatMap(({ lines }) => lines).filter(({ name }) => name in differences);
  expect(writes.map(({ name }) => name)).toEqual(Object.keys(differences));
  for (const write of writes) {
    const [answer, recorded] = answersTo(write);
    expect(answer).not.toEqual(recorded);
  }
});

function answersTo(write: RecordedWrite): readonly [ours: WriteAnswer, recorded: WriteAnswer] {
  const { apiVersion, kind: name } = write.object;
  const kind = catalog.byKind(apiVersion, name);
  if (kind === undefined) throw new Error(`there is no kind ${apiVersion} ${name}`);
  return [replayWrite(kind, write), recordedAnswer(kind, write)];
}

function asSets({ causes, warnings, ...rest }: WriteAnswer): object {
  return {
    ...rest,
    ...(causes && { causes: new Set(causes.map(asText)) }),
    ...(warnings && { warnings: new Set(warnings) }),
  };
}

function asText({ reason, field, message }: StatusCause): string {
  return `${reason} ${field}: ${message}`;
}
