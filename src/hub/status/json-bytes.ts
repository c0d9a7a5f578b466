/** The size as JSON, estimated without serializing; slightly too high for short numbers. */
export function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 2;
  if (Array.isArray(value)) for (const item of value) sum += jsonBytes(item) + 1;
  else for (const key in value) sum += key.length + 4 + jsonBytes((value as Readonly<Record<string, unknown>>)[key]);
  return sum;
}
