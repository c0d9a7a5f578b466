// A flag that takes a whole number within bounds.
import { InvalidArgumentError } from 'commander';

export const wholeNumber = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new InvalidArgumentError(`a whole number from ${least} to ${most} is expected`);
  }
  return value;
};
