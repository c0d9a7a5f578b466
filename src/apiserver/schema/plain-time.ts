// Fast check for the time format of servers and controllers, `2006-01-02T15:04:05Z`, which most times have. Other forms
// are left to the full parsers, which also report errors.
const PLAIN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** The days 29 to 31 do not match, because not every month has them. */
export const isPlainTime = (text: string): boolean => PLAIN.test(text);
