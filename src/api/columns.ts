// The columns that several kinds show in `kubectl get`.
import type { Column } from './kind.ts';

export const text = (name: string, jsonPath: string): Column => ({ name, type: 'string', jsonPath });
export const date = (name: string, jsonPath: string): Column => ({ name, type: 'date', jsonPath });

/** Shown with `-o wide` only. */
export const wide = (column: Column): Column => ({ ...column, priority: 1 });

export const conditionStatus = (name: string, type: string): Column =>
  text(name, `.status.conditions[?(@.type=="${type}")].status`);

export const conditionGeneration = (name: string, type: string): Column =>
  text(name, `.status.conditions[?(@.type=="${type}")].observedGeneration`);

export const generation: Column = text('Gen', '.metadata.generation');
export const age: Column = date('Age', '.metadata.creationTimestamp');

/** A JSONPath to one label; dots in the key are escaped, as kubectl requires. */
export const labelPath = (key: string): string => `.metadata.labels.${key.replaceAll('.', '\\.')}`;
