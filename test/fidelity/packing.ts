/**
 * The answers of a scenario repeat each other: an object is created, read and changed slightly. A part that occurred in an earlier answer
 * is written as a reference to it: `{"=": "2/body/spec"}` is the part at that path of answer 2.
 */
const worthwhileLength = 60;

type Json = Readonly<Record<string, unknown>>;

/**
 * Where each part occurred first, by its JSON text. Parts of the current answer are kept apart, because references within one answer would
 * be hard to read.
 */
interface Seen {
  readonly earlier: Map<string, string>;
  readonly now: Map<string, string>;
}

export function pack(answers: readonly unknown[]): readonly unknown[] {
  const seen: Seen = { earlier: new Map(), now: new Map() };
  return answers.map((answer, i) => {
    const packed = packValue(answer, String(i), seen);
    for (const [text, path] of seen.now) seen.earlier.set(text, path);
    seen.now.clear();
    return packed;
  });
}

export function unpack<T>(packed: readonly unknown[]): readonly T[] {
  const answers: unknown[] = [];
  for (const answer of packed) answers.push(unpackValue(answer, answers));
  return answers as T[];
}

function packValue(value: unknown, path: string, seen: Seen): unknown {
  if ((typeof value !== 'object' && typeof value !== 'string') || value === null) return value;
  const text = JSON.stringify(value);
  if (text.length < worthwhileLength) return value;
  const earlier = seen.earlier.get(text);
  if (earlier !== undefined) return { '=': earlier };
  seen.now.set(text, path);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((item, i) => packValue(item, joined(path, String(i)), seen));
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, packValue(item, joined(path, key), seen)]));
}

/** Escapes keys as in a JSON pointer, because keys may contain slashes. */
function joined(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function unpackValue(value: unknown, answers: readonly unknown[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => unpackValue(item, answers));
  const reference = (value as Json)['='];
  if (typeof reference === 'string') return lookUp(reference, answers);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpackValue(item, answers)]));
}

function lookUp(reference: string, answers: readonly unknown[]): unknown {
  const [index = '', ...keys] = reference.split('/');
  let value: unknown = answers[Number(index)];
  for (const key of keys) value = (value as Json)[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  return value;
}
