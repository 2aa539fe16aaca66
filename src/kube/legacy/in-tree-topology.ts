import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolume,
  VolumeNodeAffinity,
} from '../api/core.ts';
import type { StringMap } from '../api/meta.ts';
import { labels, multiZoneSeparator } from '../well-known.ts';
import { listOf, lookUp } from '../wire.ts';
import { pluginOfVolume } from './in-tree-migration.ts';

/**
 * The node affinity of an in-tree volume on a node that serves its plugin through CSI: zones use the driver's own key,
 * because all of the driver's nodes have that label. The oldest volumes have zone labels and no zone in their affinity;
 * they get the affinity from the labels. Returns the volume's own affinity if there is nothing to translate.
 */
export function migrateNodeAffinity(volume: PersistentVolume): VolumeNodeAffinity | undefined {
  const affinity = volume?.spec?.nodeAffinity ?? undefined;
  const topologyKey = pluginOfVolume(volume)?.topologyKey;
  if (topologyKey === undefined) return affinity;
  const terms = listOf(affinity?.required?.nodeSelectorTerms);
  const translated = migrateTerms(terms, volume.metadata?.labels, topologyKey);
  return translated === terms
    ? affinity
    : { required: { ...affinity?.required, nodeSelectorTerms: translated } };
}

type Terms = readonly NodeSelectorTerm[];

const stableLabels = { zone: labels.zone, region: labels.region };
const betaLabels = { zone: labels.betaZone, region: labels.betaRegion };

function migrateTerms(terms: Terms, volumeLabels: StringMap | undefined, topologyKey: string): Terms {
  const { zone, region } = topologyLabels(terms, volumeLabels);
  const zoned = hasValues(terms, zone)
    ? renameKey(terms, zone, topologyKey)
    : addZones(terms, topologyKey, zonesOf(volumeLabels, zone));
  // Current nodes no longer have the beta label.
  const isBeta = region === labels.betaRegion && hasValues(zoned, region);
  return isBeta ? renameKey(zoned, region, labels.region) : zoned;
}

/** The stable or the beta labels: those that the volume's affinity uses, or else those that the volume has. */
function topologyLabels(
  terms: Terms,
  volumeLabels: StringMap | undefined,
): { readonly zone: string; readonly region: string } {
  if (expressionsWith(terms, labels.zone).length > 0) return stableLabels;
  if (expressionsWith(terms, labels.betaZone).length > 0) return betaLabels;
  if (lookUp(volumeLabels, labels.zone) !== undefined) return stableLabels;
  return lookUp(volumeLabels, labels.betaZone) === undefined ? stableLabels : betaLabels;
}

function expressionsWith(terms: Terms, key: string): readonly NodeSelectorRequirement[] {
  return terms.flatMap((term) =>
    listOf(term?.matchExpressions).filter((expression) => expression?.key === key),
  );
}

function hasValues(terms: Terms, key: string): boolean {
  return expressionsWith(terms, key).some(({ values }) => listOf(values).length > 0);
}

function renameKey(terms: Terms, from: string, to: string): Terms {
  return terms.map((term) => ({
    ...term,
    matchExpressions: listOf(term?.matchExpressions).map((expression) =>
      expression?.key === from ? { ...expression, key: to } : expression,
    ),
  }));
}

/** Adds the zones to every term; a volume without terms gets one. Without zones the terms stay unchanged. */
function addZones(terms: Terms, key: string, zones: readonly string[]): Terms {
  if (zones.length === 0) return terms;
  const inZones: NodeSelectorRequirement = { key, operator: 'In', values: zones };
  if (terms.length === 0) return [{ matchExpressions: [inZones] }];
  return terms.map((term) => ({ ...term, matchExpressions: [...listOf(term?.matchExpressions), inZones] }));
}

/** A volume in several zones has them all in one label, such as `us-east1-b__us-east1-c`. */
function zonesOf(volumeLabels: StringMap | undefined, label: string): readonly string[] {
  const text = lookUp(volumeLabels, label) ?? '';
  const zones = text.split(multiZoneSeparator).map((zone) => zone.trim());
  return [...new Set(zones.filter((zone) => zone !== ''))].sort();
}
