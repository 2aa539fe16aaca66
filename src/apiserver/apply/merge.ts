import { isEqualJson } from '../../kube/deep-equal.ts';
import {
  isEmptyObject,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  ownValue,
  setKey,
} from '../../kube/go/json-value.ts';
import { listElement } from '../managed-fields/list-elements.ts';
import type { PathElement } from '../managed-fields/path-element.ts';
import {
  type ListShape,
  type MapShape,
  type MergeShape,
  type StructShape,
  shapeForValue,
  shapeOfField,
} from '../patch/merge-shape.ts';

/**
 * Merges a configuration into the live object. The values that the configuration names replace the live ones, null
 * included. The merge descends into structs, maps and lists that are not atomic; everything that the configuration does
 * not name stays.
 */
export function mergeConfiguration(live: JsonObject, config: JsonObject, shape: StructShape): JsonObject {
  return shape.isAtomic ? config : mergeFields(live, config, shape);
}

function mergeValues(live: Json | undefined, config: Json | undefined, shape: MergeShape | undefined): Json {
  if (config === undefined) return live!;
  if (live === undefined || shape === undefined) return config;
  switch (shape.kind) {
    case 'scalar':
      return config;
    case 'any':
      return whole(live, config);
    case 'list':
      return mergeLists(live, config, shape);
    case 'map':
    case 'struct':
      return shape.isAtomic ? whole(live, config) : mergeMaps(live, config, shape);
    case 'deduced':
      return mergeValues(live, config, shapeForValue(shape, config));
  }
}

function whole(live: Json, config: Json): Json {
  return isEqualJson(live, config) ? live : config;
}

function mergeMaps(live: Json, config: Json, shape: MapShape | StructShape): Json {
  const [before, applied] = [objectOrEmpty(live), objectOrEmpty(config)];
  // Two empty values still differ if one of them is null.
  if (isEmptyObject(before) && isEmptyObject(applied)) return config;
  return mergeFields(before, applied, shape);
}

/**
 * Returns the live object itself if the configuration changes nothing, so that a later comparison stops at the
 * reference.
 */
function mergeFields(live: JsonObject, config: JsonObject, shape: MapShape | StructShape): JsonObject {
  let merged: JsonDraft | undefined;
  for (const name of Object.keys(config)) {
    const was = ownValue(live, name);
    const is = was === undefined ? config[name]! : mergeValues(was, config[name]!, shapeOfField(shape, name));
    if (is === was) continue;
    merged ??= { ...live };
    setKey(merged, name, is);
  }
  return merged ?? live;
}

function mergeLists(live: Json, config: Json, shape: ListShape): Json {
  const [before, applied] = [listOrEmpty(live), listOrEmpty(config)];
  if (shape.relation === 'atomic') return whole(live, config);
  if (before.length === 0 && applied.length === 0) return config;
  const merged = mergeElements(indexed(before, shape), indexed(applied, shape), shape.element);
  const isSame = merged.length === before.length && merged.every((item, i) => item === before[i]);
  return isSame ? before : merged;
}

interface Indexed {
  readonly items: readonly Json[];
  /** The path element of each item, by position. */
  readonly elements: readonly PathElement[];
  /** Null for elements that share a key: they are replaced, not merged. */
  readonly byElement: ReadonlyMap<PathElement, Json>;
}

function indexed(items: readonly Json[], shape: ListShape): Indexed {
  const elements = items.map((item) => listElement(item, shape));
  const byElement = new Map<PathElement, Json>();
  for (const [i, element] of elements.entries()) {
    byElement.set(element, byElement.has(element) ? null : items[i]!);
  }
  return { items, elements, byElement };
}

/**
 * Elements that are in both lists come in the order of the configuration. Elements that only the live list has stay
 * between their previous neighbours as far as that order allows.
 */
function mergeElements(live: Indexed, config: Indexed, shape: MergeShape): readonly Json[] {
  const merged: Json[] = [];
  const taken = new Set<PathElement>();
  const shared = config.elements.filter((element) => live.byElement.has(element));
  let nextShared = 0;
  let [l, c] = [0, 0];
  const take = (element: PathElement): void => {
    taken.add(element);
    merged.push(mergeValues(live.byElement.get(element), config.byElement.get(element), shape));
    c++;
  };
  while (l < live.elements.length || c < config.elements.length) {
    const [mine, theirs] = [live.elements[l], config.elements[c]];
    if (mine !== undefined && mine === theirs) {
      take(mine);
      l++;
      nextShared++;
      continue;
    }
    if (mine !== undefined && theirs !== undefined) {
      const isWanted = nextShared >= shared.length || shared[nextShared] === mine;
      if (config.byElement.has(mine) && !isWanted) {
        l++;
        continue;
      }
    }
    if (mine !== undefined) {
      if (!config.byElement.has(mine)) {
        merged.push(live.items[l]!);
        l++;
        continue;
      }
      if (taken.has(mine)) l++;
    }
    if (theirs !== undefined) {
      take(theirs);
      if (shared[nextShared] === theirs) nextShared++;
    }
  }
  return merged;
}

function objectOrEmpty(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOrEmpty(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : [];
}
