import type { FieldErrors } from './field-errors.ts';

/** Paths of files that an object names: inside a volume, inside a container, on a node. */

export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/');
}

export function hasParentSegment(path: string): boolean {
  return path.split('/').includes('..');
}

export function checkNoParentSegment(errors: FieldErrors, field: string, path: string): void {
  if (hasParentSegment(path)) errors.invalid(field, path, "must not contain '..'");
}

/** Below the directory that it starts from. */
export function checkRelativePath(errors: FieldErrors, field: string, path: string): void {
  if (isAbsolutePath(path)) errors.invalid(field, path, 'must be a relative path');
  checkNoParentSegment(errors, field, path);
}

/** Names that start with two dots are the kubelet's own. */
export function checkUnreservedPath(errors: FieldErrors, field: string, path: string): void {
  checkRelativePath(errors, field, path);
  if (path.startsWith('..') && !path.startsWith('../')) {
    errors.invalid(field, path, "must not start with '..'");
  }
}

/** The rights of a file. */
export function checkFileMode(errors: FieldErrors, field: string, mode: number | undefined): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return;
  errors.invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}
