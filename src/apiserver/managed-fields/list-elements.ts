import { isJsonArray, isJsonObject, type Json } from '../../kube/go/json-value.ts';
import { goQuoted } from '../../kube/go/quote.ts';
import type { ListShape } from '../patch/merge-shape.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';

/** A list element without an identity, with Kubernetes' message. */
export class ListElementError extends Error {}

/** The path element of an item of a list that is not atomic. */
export function listElement(item: Json, shape: ListShape): PathElement {
  const element = shape.relation === 'set' ? valueElement(item) : keyElement(item, shape.keys);
  if (element === undefined) throw new ListElementError(identityProblem(item, shape));
  return element;
}

function identityProblem(item: Json, { relation, keyOrder }: ListShape): string {
  if (relation === 'set') {
    if (isJsonArray(item)) return 'not supported: associative list with lists as elements';
    return `associative list without keys has an element that's ${item === null ? 'an explicit null' : 'a map type'}`;
  }
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements';
  const names = keyOrder.map(goQuoted).join(' ');
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
}
