/**
 * Prefers nodes that already have the pod's images. An image counts with its size times the share of nodes that have it, so that a rare
 * image does not draw all pods to its few nodes.
 */
import { textOf } from '../../../kube/wire.ts';
import { haveSameImages, type PulledImage } from '../../cluster-index/nodes/image-table.ts';
import { memoByShape } from '../../records/pod-shape/pod-shape.ts';
import type { Cycle } from '../framework/cycle.ts';
import { type Prepared, type Rule, skip } from '../framework/rule.ts';
import { isOwnSpecChange } from '../wake-conditions/own-spec.ts';

interface ImageState {
  /** One for each container and image volume whose image some node has. */
  readonly images: readonly PulledImage[];
  readonly containers: number;
}

const mebibyte = 2 ** 20;
/** A node whose images add up to less than this scores 0. */
const bytesMin = 23 * mebibyte;
/** The maximum that counts for each container. */
const containerBytesMax = 1000 * mebibyte;
const scoreMax = 100;

export const imageLocalityRule: Rule<ImageState> = {
  name: 'ImageLocality',
  reasons: [],
  prepare,
  filter: () => {},
  score: { weight: 1, run: scoreImages },
  explain: () => [],
  wakes: () => false,
  invalidates: (interest, change) =>
    isOwnSpecChange(interest, change) ||
    (change.kind === 'Node' && !haveSameImages(change.before?.images ?? [], change.after?.images ?? [])) ||
    (change.kind === 'Node' && (change.before === undefined || change.after === undefined)),
};

const imagesOf = memoByShape(({ containers, initContainers, imageVolumes = [] }) => ({
  containers: containers.length + initContainers.length,
  names: [...[...initContainers, ...containers].map(({ image }) => textOf(image)), ...imageVolumes].map(
    tagged,
  ),
}));

/** The name with a tag, as nodes report it. */
function tagged(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}

function prepare({ index, pod }: Cycle): Prepared<ImageState> {
  const { containers, names } = imagesOf(pod.shape);
  const images = names.flatMap((name) => index.nodeTraits.images.get(name) ?? []);
  return images.length === 0 || containers === 0 ? skip : { kind: 'ready', state: { images, containers } };
}

function scoreImages({ images, containers }: ImageState, cycle: Cycle, scores: Float64Array): void {
  for (const { nodes, sizeBytes } of images) {
    const share = nodes.size / cycle.index.nodes.size;
    const bytes = Math.floor(sizeBytes * share);
    nodes.each((node) => {
      if (cycle.isFeasible(node)) scores[node]! += bytes;
    });
  }
  const bytesMax = containerBytesMax * containers;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    const bytes = Math.min(Math.max(scores[node]!, bytesMin), bytesMax);
    scores[node] = Math.floor((scoreMax * (bytes - bytesMin)) / (bytesMax - bytesMin));
  }
}
