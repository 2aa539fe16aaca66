import type { FieldErrors } from './field-errors.ts';

/** Rules for file paths in objects: inside a volume, inside a container, on a node. */

export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/');
}

export function hasParentSegment(path: string): boolean {
  return path.split('/').includes('..');
}

export function checkNoParentSegment(errors: FieldErrors, field: string, path: string): void {
  if (hasParentSegment(path)) errors.invalid(field, path, "must not contain '..'");
}

/** The path must stay below the directory that it starts from. */
export function checkRelativePath(errors: FieldErrors, field: string, path: string): void {
  if (isAbsolutePath(path)) errors.invalid(field, path, 'must be a relative path');
  checkNoParentSegment(errors, field, path);
}

/** File names that start with two dots are reserved for the kubelet. */
export function checkUnreservedPath(errors: FieldErrors, field: string, path: string): void {
  checkRelativePath(errors, field, path);
  if (path.startsWith('..') && !path.startsWith('../')) {
    errors.invalid(field, path, "must not start with '..'");
  }
}

/** The permission bits of a file. */
export function checkFileMode(errors: FieldErrors, field: string, mode: number | undefined): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return;
  errors.invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}
