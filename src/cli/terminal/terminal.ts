// A text on a terminal that is redrawn in place.

import { shortened } from '../../insight/plain-text.ts';
import { type Paint, plain } from './paint.ts';

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  draw(text: string): void;
}

type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns' | 'rows'>;

/** undefined = not a terminal: a file, a pipe. */
export function terminalOn(stream: Stream, paint: Paint = plain): Terminal | undefined {
  if (!stream.isTTY) return undefined;
  let drawn = 0;
  return {
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
    draw(text) {
      // A wrapped line would take two rows, and the next picture would start one row too low.
      const lines = text.split('\n').map((line) => paint(shortened(line, this.columns - 1)));
      const back = drawn === 0 ? '' : `\u001b[${drawn}A\r\u001b[J`;
      stream.write(`${back}${lines.join('\n')}\n`);
      drawn = lines.length;
    },
  };
}
