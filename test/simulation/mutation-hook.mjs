import { readFileSync } from 'node:fs';

/* A hook of Node's module loader: one module of the compiled program is loaded from another file. */

let mutation;

/** `url`: the module that is replaced. `file`: its replacement; imports are resolved as if it were the module. */
export function initialize(data) {
  mutation = data;
}

export async function load(url, context, nextLoad) {
  if (url !== mutation.url) return await nextLoad(url, context);
  return { format: 'module', source: readFileSync(mutation.file, 'utf8'), shortCircuit: true };
}
