import type { CustomResourceDefinition } from '../../../kube/api/apiextensions.ts';
import { stowageVersion } from '../../../kube/stowage/driver-capacity.ts';
import { isRecord, listOf, textOf } from '../../../kube/wire.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, factItems, factValue } from '../facts.ts';
import { componentLeases } from './components.ts';

export const definitionChecks: readonly Check[] = [
  {
    subject: 'the definitions of stowage.dev',
    needs: ['definitions'],
    find: definitionFindings,
  },
];

const kind = 'CustomResourceDefinition';

function definitionFindings(facts: ClusterFacts): readonly Found[] {
  const installed = new Map(
    factValue(facts.lists.definitions).map((one) => [textOf(one.metadata?.name), one]),
  );
  const isAny = facts.ownDefinitions.some(({ metadata }) => installed.has(textOf(metadata?.name)));
  if (!isAny && !hasOwnClass(facts)) return notInstalled(facts);
  return facts.ownDefinitions.flatMap((own) => {
    const found = installed.get(textOf(own.metadata?.name));
    if (found !== undefined) return problemsOf(own, found);
    return [{ code: 'DefinitionsMissing', object: objectOf(kind, own), detail: 'is not installed' } as const];
  });
}

/** A scheduler without drives, disks and pools needs no definition. */
function notInstalled(facts: ClusterFacts): readonly Found[] {
  if (componentLeases(facts).length > 0) return [];
  const object = { kind: 'Cluster', name: facts.server.url };
  const detail = 'no definition of stowage.dev, and no Lease of a component';
  return [{ code: 'NotInstalled', object, detail }];
}

function hasOwnClass({ lists }: ClusterFacts): boolean {
  return factItems(lists.classes).some(({ provisioner }) => textOf(provisioner).endsWith('.stowage.dev'));
}

function problemsOf(own: CustomResourceDefinition, found: CustomResourceDefinition): readonly Found[] {
  const object = objectOf(kind, own);
  const established = listOf(found.status?.conditions).find(({ type }) => type === 'Established');
  if (established !== undefined && established.status !== 'True') {
    const detail = textOf(established.message) || 'its condition Established is not True';
    return [{ code: 'DefinitionNotEstablished', object, detail }];
  }
  const wanted = versionOf(own);
  const given = versionOf(found);
  if (given === undefined || given.served !== true)
    return [{ code: 'DefinitionOutdated', object, detail: `does not serve version ${stowageVersion}` }];
  const missing = missingPath(wanted?.schema, given.schema, '');
  if (missing === undefined) return [];
  return [{ code: 'DefinitionOutdated', object, detail: `${missing || 'its schema'} is missing or differs` }];
}

function versionOf({ spec }: CustomResourceDefinition) {
  return listOf(spec?.versions).find(({ name }) => name === stowageVersion);
}

/**
 * The first path of `wanted` that `given` lacks or has with another value; undefined if there is none. The API server adds defaults, so that
 * more is not a difference; descriptions are not compared.
 */
function missingPath(wanted: unknown, given: unknown, path: string): string | undefined {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(given) || given.length !== wanted.length) return path;
    return firstMissing(wanted.map((item, at) => missingPath(item, given[at], `${path}[${at}]`)));
  }
  if (isRecord(wanted)) {
    if (!isRecord(given)) return path;
    return firstMissing(
      Object.keys(wanted)
        .filter((key) => key !== 'description')
        .map((key) => missingPath(wanted[key], given[key], joined(path, key))),
    );
  }
  return wanted === given ? undefined : path;
}

function firstMissing(paths: readonly (string | undefined)[]): string | undefined {
  return paths.find((path) => path !== undefined);
}

/** The path of a field as users write it, without the words of the schema. */
function joined(path: string, key: string): string {
  if (['openAPIV3Schema', 'properties'].includes(key)) return path;
  if (key === 'items') return `${path}[]`;
  if (key === 'additionalProperties') return `${path}.*`;
  return path === '' ? key : `${path}.${key}`;
}
