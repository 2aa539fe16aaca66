import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fill, StowageInGuest, volumeCapability } from './stowage-in-guest.mjs';

/*
 * Runs in the kernel with XFS quota: from an empty disk to a volume that is published, full, and grows. Prints what it saw as JSON.
 *
 *   node driver-guest.mjs FOLDER     the folder of the compiled src
 */

const [, , code] = process.argv;
const mebibyte = 1024 * 1024;
const guest = new StowageInGuest(code);
const seen = {};

async function useVolume() {
  const { volume } = await guest.call('CreateVolume', {
    name: 'data',
    capacityRange: { requiredBytes: BigInt(20 * mebibyte) },
    volumeCapabilities: [volumeCapability],
  });
  const { volumeId, volumeContext } = volume;
  const [stagingTargetPath, targetPath] = [`${guest.folder}/staging`, `${guest.folder}/target`];
  const wanted = { volumeId, volumeContext, stagingTargetPath, volumeCapability };
  await guest.call('NodeStageVolume', wanted);
  await guest.call('NodePublishVolume', { ...wanted, targetPath });
  seen.full = fill(join(targetPath, 'file'), 40);

  const size = { volumeId, capacityRange: { requiredBytes: BigInt(60 * mebibyte) } };
  await guest.call('ControllerExpandVolume', size);
  await guest.call('NodeExpandVolume', { ...size, volumePath: targetPath });
  seen.expanded = fill(join(targetPath, 'file'), 20);
  seen.bytes = statSync(join(targetPath, 'file')).size;
  const { usage } = await guest.call('NodeGetVolumeStats', { volumeId, volumePath: targetPath });
  seen.usage = usage.map(({ unit, total, used }) => ({ unit, total: Number(total), used: Number(used) }));

  await guest.call('NodeUnpublishVolume', { volumeId, targetPath });
  await guest.call('NodeUnstageVolume', { volumeId, stagingTargetPath });
  await guest.call('DeleteVolume', { volumeId });
}

try {
  await guest.start('/dev/ubda');
  await useVolume();
  process.stdout.write(`${JSON.stringify(seen)}\n`);
} finally {
  guest.stop();
}
