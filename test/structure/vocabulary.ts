import type { AllowedUse } from './vocabulary-rules.ts';

/** Uses of ruled-out words that are right. */
export const allowedUses: readonly AllowedUse[] = [];
