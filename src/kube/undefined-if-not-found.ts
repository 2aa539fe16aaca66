import { isReason } from './api-error.ts';

/** The result of the call; undefined if the object does not exist. Other errors are thrown. */
export async function undefinedIfNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
