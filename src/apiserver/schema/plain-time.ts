// Times as servers and controllers write them, `2006-01-02T15:04:05Z`: most of those that are read. Whatever is not quite like that is left to
// those who know all forms and say what is wrong.
const PLAIN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** Days that not every month has are not plain. */
export const isPlainTime = (text: string): boolean => PLAIN.test(text);
