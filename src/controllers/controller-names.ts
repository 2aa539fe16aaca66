import { allControllers } from './all-controllers.ts';

/** The names of all controllers, in the order in which they start. */
export const controllerNames: readonly string[] = allControllers().map(({ name }) => name);

const choices = `must be *, none, or some of ${controllerNames.join(', ')}`;

export type ControllerSelection =
  | { readonly ok: true; readonly names: readonly string[] }
  /** The error in the list, without its source. */
  | { readonly ok: false; readonly problem: string };

/**
 * Parses `--controllers`: names separated by commas, `*` for all, `none` for none, `-name` for all but that one. As in
 * kube-controller-manager, `*,-namespace` is all but namespace, and so is `-namespace` alone.
 */
export function selectControllers(list: string): ControllerSelection {
  const entries = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  // An empty list may come from a variable that is not set: running everything would be a dangerous guess.
  if (entries.length === 0) return { ok: false, problem: `is empty; ${choices}` };
  if (entries.length === 1 && entries[0] === 'none') return { ok: true, names: [] };
  const unknown = entries.find((entry) => entry !== '*' && !isName(entry.replace(/^-/, '')));
  if (unknown !== undefined) return { ok: false, problem: problemWith(unknown) };
  const excluded = entries.filter((entry) => entry.startsWith('-')).map((entry) => entry.slice(1));
  const isEverything = entries.includes('*') || entries.length === excluded.length;
  const names = controllerNames.filter(
    (name) => (isEverything || entries.includes(name)) && !excluded.includes(name),
  );
  return { ok: true, names };
}

function isName(name: string): boolean {
  return controllerNames.includes(name);
}

function problemWith(name: string): string {
  if (name === 'none') return '"none" must be the only name; remove the others';
  return `unknown controller "${name}"; ${choices}`;
}
