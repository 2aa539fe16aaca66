const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
);

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const unescapes: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' };

/** The name of a property in rules; undefined if rules cannot access it. */
export function escapeProperty(name: string): string | undefined {
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => escapes[part] ?? part);
}

/** The property that a name in a rule refers to; undefined if it refers to none. */
export function unescapeProperty(escaped: string): string | undefined {
  let isValid = true;
  const name = escaped.replace(/__[^_]+__/g, (part) => {
    const inner = part.slice(2, -2);
    const plain = unescapes[inner];
    if (plain !== undefined) return plain;
    if (!reserved.has(inner) || part.length !== escaped.length) isValid = false;
    return inner;
  });
  return isValid ? name : undefined;
}
