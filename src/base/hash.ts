// The hash for names, fingerprints and ETags.
import { hash } from 'node:crypto';

/** SHA-256 in lower-case hex. Strings are hashed as UTF-8. */
export const sha256 = (content: string | Uint8Array): string => hash('sha256', content);
