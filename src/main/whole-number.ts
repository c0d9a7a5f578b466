// A flag with an integer within bounds.
import { InvalidArgumentError } from 'commander';

export const wholeNumber = (least: number, max: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > max) {
    throw new InvalidArgumentError(`a whole number from ${least} to ${max} is expected`);
  }
  return value;
};
