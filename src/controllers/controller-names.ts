import { allControllers } from './all-controllers.ts';

/** In the order in which they start. */
export const controllerNames: readonly string[] = allControllers().map(({ name }) => name);

const choices = `must be *, none, or some of ${controllerNames.join(', ')}`;

export type ControllerSelection =
  | { readonly ok: true; readonly names: readonly string[] }
  /** What is wrong with the list, without its source. */
  | { readonly ok: false; readonly problem: string };

/**
 * Parses `--controllers`: names separated by commas, `*` for all, `none` for none, `-name` for all but that one. As in
 * kube-controller-manager, `*,-namespace` is all but namespace, and so is `-namespace` alone.
 */
export function selectControllers(list: string): ControllerSelection {
  const words = list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  // An empty list may come from a variable that is not set: running everything would be a dangerous guess.
  if (words.length === 0) return { ok: false, problem: `is empty; ${choices}` };
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
  if (word === 'none') return '"none" must be the only name; remove the others';
  return `unknown controller "${word}"; ${choices}`;
}
