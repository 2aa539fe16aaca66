import type { FieldErrors } from '../../../validation/field-errors.ts';

/** Sorted, as errors list them. */
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem'];

/** For volumes and claims. */
export function checkAccessModes(errors: FieldErrors, field: string, modes: readonly string[]): void {
  for (const mode of modes) if (!accessModes.includes(mode)) errors.notSupported(field, mode, accessModes);
  const others = modes.filter((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others.length > 0) {
    errors.forbidden(field, 'may not use ReadWriteOncePod with other access modes');
  }
}

export function checkVolumeMode(errors: FieldErrors, field: string, mode: string | undefined): void {
  if (mode !== undefined && !volumeModes.includes(mode)) errors.notSupported(field, mode, volumeModes);
}
