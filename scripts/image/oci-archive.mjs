/**
 * An image as one file that `ctr images import`, `docker load` and `kind load image-archive` read: the OCI image layout, and beside its index
 * the `manifest.json` of `docker save`, which names the same blobs. Layers are not compressed, so that the digest of an image does not
 * depend on a compressor's version; registries' clients compress what they push.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { writeTar } from './tar-writer.mjs';

const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
};

/**
 * `layers`: each with `entries` and `comment`; `config`: as in the OCI image configuration; `tag`: such as `stowage:0.1.0`. Returns the
 * image's digest, that of its manifest.
 */
export function writeImage(output, { layers, config, architecture, tag, date, folder }) {
  const mtimeSeconds = Date.parse(date) / 1000;
  const written = layers.map(({ entries }, index) => {
    const path = join(folder, `layer-${index}.tar`);
    const { sha256, size } = writeTar(path, entries, mtimeSeconds);
    return { path, digest: `sha256:${sha256}`, size, mediaType: mediaTypes.layer };
  });
  const configBlob = jsonBlob(mediaTypes.config, {
    created: date,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: written.map(({ digest }) => digest) },
    history: layers.map(({ comment }) => ({ created: date, created_by: 'scripts/image', comment })),
  });
  const manifestBlob = jsonBlob(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptor(configBlob),
    layers: written.map(descriptor),
  });
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [
      { ...descriptor(manifestBlob), platform: { architecture, os: 'linux' }, annotations: names(tag) },
    ],
  };
  const docker = [{ Config: blobPath(configBlob), RepoTags: [tag], Layers: written.map(blobPath) }];
  const files = {
    ...Object.fromEntries([...written, configBlob, manifestBlob].map((blob) => [blobPath(blob), blob])),
    'index.json': { content: JSON.stringify(index) },
    'manifest.json': { content: JSON.stringify(docker) },
    'oci-layout': { content: JSON.stringify({ imageLayoutVersion: '1.0.0' }) },
  };
  writeTar(output, archiveEntries(files), mtimeSeconds);
  return { digest: manifestBlob.digest, size: statSync(output).size };
}

function archiveEntries(files) {
  const folders = ['blobs', 'blobs/sha256'].map((path) => [path, { kind: 'folder', mode: 0o755 }]);
  const entries = Object.entries(files).map(([path, { content, path: source }]) => {
    const data = content === undefined ? { source } : { content: Buffer.from(content) };
    return [path, { kind: 'file', mode: 0o644, ...data }];
  });
  return [...folders, ...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

function jsonBlob(mediaType, value) {
  const content = JSON.stringify(value);
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return { mediaType, digest, size: Buffer.byteLength(content), content };
}

function descriptor({ mediaType, digest, size }) {
  return { mediaType, digest, size };
}

function blobPath({ digest }) {
  return `blobs/${digest.replace(':', '/')}`;
}

/** containerd's name is complete; the kubelet completes `stowage:0.1.0` in the same way. */
function names(tag) {
  return {
    'io.containerd.image.name': completeName(tag),
    'org.opencontainers.image.ref.name': tag.split(':').at(-1),
  };
}

function completeName(tag) {
  const [first, ...rest] = tag.split('/');
  if (rest.length === 0) return `docker.io/library/${tag}`;
  return /[.:]|^localhost$/.test(first) ? tag : `docker.io/${tag}`;
}
