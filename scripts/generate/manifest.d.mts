export interface GeneratedFiles {
  /** Such as `k8s.io/kubernetes v1.36.3`. */
  readonly upstream: string;
  /** SHA-256 of the generator's sources. */
  readonly sources: string;
  /** Path to SHA-256. */
  readonly files: Readonly<Record<string, string>>;
}

export const manifestPath: string;
export const generators: readonly string[];
export function readManifest(root: string): Readonly<Record<string, GeneratedFiles>>;
export function sha256OfSources(root: string, name: string): string;
export function sha256OfFile(root: string, path: string): string;
export function upstreamOf(root: string, name: string): string;
