/**
 * What a program or library asks of the dynamic linker, read from the file itself: `ldd` would run it, which this machine cannot do for
 * another architecture. Both architectures of the image are 64 bit, little-endian.
 */
const magic = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const segmentTypes = { load: 1, dynamic: 2, interpreter: 3 };
const tags = { end: 0, needed: 1, stringTable: 5 };

/** The names of the libraries that it loads, and the path of the dynamic linker that it starts with. Undefined for any other file. */
export function linkedLibraries(file) {
  if (!file.subarray(0, magic.length).equals(magic)) return undefined;
  const segments = readSegments(file);
  const dynamic = segments.find(({ type }) => type === segmentTypes.dynamic);
  const interpreter = segments.find(({ type }) => type === segmentTypes.interpreter);
  return {
    needed: dynamic === undefined ? [] : neededNames(file, segments, dynamic),
    interpreter: interpreter && stringAt(file, interpreter.offset),
  };
}

/** The program header: type at 0, offset at 8, virtual address at 16, size in the file at 32. */
function readSegments(file) {
  const start = Number(file.readBigUInt64LE(32));
  const size = file.readUInt16LE(54);
  const count = file.readUInt16LE(56);
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    const number = (offset) => Number(file.readBigUInt64LE(at + offset));
    return { type: file.readUInt32LE(at), offset: number(8), address: number(16), size: number(32) };
  });
}

/** Pairs of a tag and a value; names are offsets into the string table, whose address is one of the values. */
function neededNames(file, segments, { offset, size }) {
  const pairs = [];
  for (let at = offset; at < offset + size; at += 16) {
    const tag = Number(file.readBigInt64LE(at));
    if (tag === tags.end) break;
    pairs.push({ tag, value: Number(file.readBigUInt64LE(at + 8)) });
  }
  const table = pairs.find(({ tag }) => tag === tags.stringTable)?.value ?? 0;
  const holder = segments.find(
    ({ type, address, size }) => type === segmentTypes.load && table >= address && table < address + size,
  );
  if (holder === undefined) return [];
  const strings = holder.offset + table - holder.address;
  return pairs.filter(({ tag }) => tag === tags.needed).map(({ value }) => stringAt(file, strings + value));
}

function stringAt(file, at) {
  return file.toString('latin1', at, file.indexOf(0, at));
}
