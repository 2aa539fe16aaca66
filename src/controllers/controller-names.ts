import { allControllers } from './all-controllers.ts';

/** In the order in which they are started. */
export const controllerNames: readonly string[] = allControllers().map(({ name }) => name);

const choices = `use *, none or some of ${controllerNames.join(', ')}`;

export type ControllerSelection =
  | { readonly ok: true; readonly names: readonly string[] }
  /** Of the list, wherever that was written. */
  | { readonly ok: false; readonly problem: string };

/**
 * What `--controllers` says: names separated by commas, `*` for all, `none` for none, `-name` for all but that one. As in
 * kube-controller-manager, `*,-namespace` is all but namespace, and so is `-namespace` alone.
 */
export function selectControllers(list: string): ControllerSelection {
  const words = list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  // As from a variable that is not set: to run everything would be a guess that nobody takes back.
  if (words.length === 0) return { ok: false, problem: `names nothing; ${choices}` };
  if (words.length === 1 && words[0] === 'none') return { ok: true, names: [] };
  const unknown = words.find((word) => word !== '*' && !isName(word.replace(/^-/, '')));
  if (unknown !== undefined) return { ok: false, problem: problemWith(unknown) };
  const excluded = words.filter((word) => word.startsWith('-')).map((word) => word.slice(1));
  const isEverything = words.includes('*') || words.length === excluded.length;
  const names = controllerNames.filter(
    (name) => (isEverything || words.includes(name)) && !excluded.includes(name),
  );
  return { ok: true, names };
}

function isName(word: string): boolean {
  return controllerNames.includes(word);
}

function problemWith(word: string): string {
  if (word === 'none') return '"none" stands alone; leave the other names out';
  return `there is no controller "${word}"; ${choices}`;
}
