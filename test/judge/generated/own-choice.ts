// Ports that a server has chosen itself. A patch that carries those of one server may meet, on the other, a port that somebody else has there: each
// server is asked about its own.
import type { KubeObject } from '../../../src/api/object.ts';
import { isObject } from '../../../src/base/json.ts';

const nodePortsOf = ({ spec }: KubeObject): readonly unknown[] => {
  const ports = isObject(spec) ? spec['ports'] : undefined;
  return Array.isArray(ports) ? ports.map((port) => (isObject(port) ? port['nodePort'] : undefined)) : [];
};

/** A patch that was made for one of two objects, which differ only in what their servers chose, for the other. */
export function patchFor(other: KubeObject, made: { readonly of: KubeObject; readonly body: unknown }): unknown {
  const theirs = nodePortsOf(other);
  const choices = new Map(nodePortsOf(made.of).map((port, index) => [port, theirs[index]]));
  const translated = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(translated);
    if (!isObject(value)) return value;
    const translate = ([key, item]: [string, unknown]) => [
      key,
      key === 'nodePort' ? (choices.get(item) ?? item) : translated(item),
    ];
    return Object.fromEntries(Object.entries(value).map(translate));
  };
  return translated(made.body);
}
