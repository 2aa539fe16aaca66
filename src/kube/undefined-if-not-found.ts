import { isReason } from './api-error.ts';

/** Undefined where the object is not there; whatever else went wrong is thrown on. */
export async function undefinedIfNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
