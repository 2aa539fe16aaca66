import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from '../stowage.ts';

/** An image that volumes begin with: `stowage.dev/v1alpha1`, cluster-scoped. docs/kinds.md describes each field. */
export interface BackingImage extends KubeObject {
  readonly status?: {
    /** Copies by the UUID of their disk. */
    readonly diskFileStatusMap?: Readonly<Record<string, { readonly state: string }>>;
  };
}

export const backingImages: Resource<BackingImage> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'BackingImage',
  plural: 'backingimages',
  isOptional: true,
};
