/** What is in the image, as SPDX 2.3: Stowage, Node, npm packages and Debian packages, each with its version, source and hash. */
import { createHash } from 'node:crypto';
import { nodeVersion } from './contents.mjs';

/**
 * `stowage` and `npm`: the `package.json` of each; `debian`: locked packages of which the image has files; `lock`; `npmLock`:
 * `package-lock.json`. The document's name contains the hash of its contents, so that it is unique and the same twice.
 */
export function describeContents({ tag, platform, stowage, npm, debian, lock, npmLock }) {
  const { architecture, npmCpu } = platform;
  const image = entry('image', { name: tag, version: stowage.version, purpose: 'CONTAINER' });
  const parts = [
    npmEntry(stowage, {}),
    entry('node', {
      name: `node-linux-${npmCpu}`,
      version: nodeVersion,
      license: 'MIT',
      purl: `pkg:npm/node-linux-${npmCpu}@${nodeVersion}`,
      checksum: integrityChecksum(lock.node.integrity[npmCpu]),
    }),
    ...npm.map((manifest) => npmEntry(manifest, lockedEntry(npmLock, manifest))),
    ...debian.map((part) => debianEntry(part, architecture)),
  ];
  const unique = [...new Map(parts.map((part) => [part.SPDXID, part])).values()].sort(bySpdxId);
  const hash = createHash('sha256').update(JSON.stringify(unique)).digest('hex');
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${tag} ${architecture}`,
    documentNamespace: `https://stowage.dev/sbom/${hash}`,
    creationInfo: { created: lock.date, creators: [`Tool: stowage-image-${stowage.version}`] },
    packages: [image, ...unique],
    relationships: [
      relationship('SPDXRef-DOCUMENT', 'DESCRIBES', image.SPDXID),
      ...unique.map(({ SPDXID }) => relationship(image.SPDXID, 'CONTAINS', SPDXID)),
    ],
  };
}

function npmEntry({ name, version, license }, { resolved, integrity }) {
  return entry(`npm-${name}-${version}`, {
    name,
    version,
    license,
    url: resolved,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    checksum: integrity && integrityChecksum(integrity),
  });
}

function debianEntry({ name, version, url, sha256 }, architecture) {
  return entry(`deb-${name}`, {
    name,
    version,
    url,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-13`,
    checksum: { algorithm: 'SHA256', checksumValue: sha256 },
  });
}

function entry(id, { name, version, license, url, purl, checksum, purpose }) {
  return {
    SPDXID: `SPDXRef-${id.replaceAll(/[^A-Za-z0-9.-]/g, '-')}`,
    name,
    versionInfo: version,
    downloadLocation: url ?? 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license ?? 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    ...(purpose === undefined ? {} : { primaryPackagePurpose: purpose }),
    ...(checksum === undefined ? {} : { checksums: [checksum] }),
    ...(purl === undefined
      ? {}
      : {
          externalRefs: [
            { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl },
          ],
        }),
  };
}

/** npm's `sha512-BASE64`. */
function integrityChecksum(integrity) {
  const [algorithm, value] = integrity.split(/-(.*)/s);
  return { algorithm: algorithm.toUpperCase(), checksumValue: Buffer.from(value, 'base64').toString('hex') };
}

function lockedEntry(npmLock, { name, version }) {
  const found = Object.entries(npmLock.packages).find(
    ([path, locked]) => path.endsWith(`node_modules/${name}`) && locked.version === version,
  );
  if (found === undefined) throw new Error(`${name}@${version} is not in package-lock.json`);
  return found[1];
}

function relationship(spdxElementId, relationshipType, relatedSpdxElement) {
  return { spdxElementId, relationshipType, relatedSpdxElement };
}

function bySpdxId(a, b) {
  return a.SPDXID < b.SPDXID ? -1 : 1;
}
