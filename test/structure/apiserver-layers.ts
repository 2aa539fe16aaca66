/** The layers of `src/apiserver`, from the bottom up; `src/apiserver/README.md` shows the same list. */
export const apiserverLayers: readonly (readonly string[])[] = [
  ['store', 'schema', 'validation'],
  ['patch', 'structural'],
  ['managed-fields', 'cel'],
  ['apply', 'kinds'],
  ['registry'],
  ['access', 'custom'],
  ['server'],
  ['embedded-server.ts'],
];
