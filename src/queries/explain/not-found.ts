import { truncatedList } from '../../engine/explain/truncated-list.ts';
import { QuestionError } from '../question-error.ts';
import type { ClusterView, Target } from '../view/cluster-view.ts';

/** Why there is nothing to explain, with a suggestion for a misspelt name. */
export function targetNotFound(
  view: ClusterView,
  { kind, namespace, name }: Target,
  where: string,
): QuestionError {
  const plural = kind === 'pod' ? 'pods' : 'persistentvolumeclaims';
  const hidden = view.unseen?.find(
    (unseen) => unseen.plural === plural && unseen.onlyNamespace !== namespace,
  );
  if (hidden !== undefined)
    return new QuestionError(`could not read ${plural}: forbidden; the right to list ${plural} is needed`);
  const hint =
    elsewhere(view, { kind, namespace, name }) ??
    unknownNamespace(view, namespace) ??
    otherKind(view, { kind, namespace, name }) ??
    nearby(view, { kind, namespace, name }) ??
    `kubectl get ${plural} -n ${namespace} lists those there are`;
  return new QuestionError(`there is no ${kind} ${namespace}/${name} in ${where}; ${hint}`);
}

const namesShownMax = 3;

function elsewhere(view: ClusterView, { kind, name }: Target): string | undefined {
  const namespaces = namesOf(view, kind).flatMap((known) => (known.name === name ? [known.namespace] : []));
  if (namespaces.length === 0) return undefined;
  return namespaces.length === 1
    ? `there is one in namespace ${namespaces[0]}; choose it with -n`
    : `there are some in namespaces ${shortened(namespaces)}; choose one with -n`;
}

/** Only if namespaces could be read. */
function unknownNamespace({ snapshot }: ClusterView, namespace: string): string | undefined {
  if (snapshot.count('Namespace') === 0 || snapshot.get('Namespace', namespace) !== undefined)
    return undefined;
  const known = [...snapshot.values('Namespace')].map(({ metadata }) => metadata?.name ?? '');
  const near = closeTo(namespace, known);
  const hint =
    near.length === 0 ? 'kubectl get namespaces lists those there are' : `${shortened(near)} is close`;
  return `there is no namespace ${namespace} either; ${hint}`;
}

/** A name without a kind is taken as a pod's. */
function otherKind(view: ClusterView, { kind, namespace, name }: Target): string | undefined {
  const other = kind === 'pod' ? 'claim' : 'pod';
  const isThere = namesOf(view, other).some((known) => known.namespace === namespace && known.name === name);
  return isThere
    ? `there is a ${other} of that name: stowage explain ${other} ${namespace}/${name}`
    : undefined;
}

function nearby(view: ClusterView, { kind, namespace, name }: Target): string | undefined {
  const there = namesOf(view, kind).filter((known) => known.namespace === namespace);
  const near = closeTo(
    name,
    there.map((known) => known.name),
  );
  return near.length === 0 ? undefined : `close to it ${near.length === 1 ? 'is' : 'are'} ${shortened(near)}`;
}

function namesOf({ snapshot }: ClusterView, kind: Target['kind']) {
  return [...snapshot.values(kind === 'pod' ? 'Pod' : 'PersistentVolumeClaim')].map(({ metadata }) => ({
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
  }));
}

function shortened(names: readonly string[]): string {
  return truncatedList(names.slice(0, namesShownMax), names.length);
}

/** The largest edit distance of a suggestion. */
const mistakesMax = 2;

/** Names that begin with the given text, or else those with the smallest edit distance. */
function closeTo(wanted: string, names: readonly string[]): string[] {
  const judged = names.map((name) => ({
    name,
    mistakes: name.startsWith(wanted) ? 0 : mistakesBetween(wanted, name),
  }));
  const fewest = judged.reduce((least, { mistakes }) => Math.min(least, mistakes), mistakesMax);
  return judged.flatMap(({ name, mistakes }) => (mistakes <= fewest ? [name] : [])).sort();
}

/** The Levenshtein distance; a larger difference in length is returned without counting. */
function mistakesBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > mistakesMax) return mistakesMax + 1;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1];
    for (let at = 1; at <= b.length; at += 1) {
      const replaced = row[at - 1]! + (letter === b[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[at]! + 1, next[at - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
