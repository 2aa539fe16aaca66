import { isReason } from '../kube/api-error.ts';

/** Waits for a creation. An object of that name that exists stays as it is: users may have changed it. */
export async function createIfAbsent(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}
