// Positions in error messages: an operator, a dot, an opening bracket. The parser records the ends of operands; the
// position between them is found in the source.
import type { ASTNode } from '@marcbachmann/cel-js';

/** Skips blanks, comments and closing parentheses. */
function skip(source: string, from: number): number {
  let at = from;
  for (;;) {
    const char = source[at];
    if (char === ' ' || char === '\t' || char === '\n' || char === '\r' || char === ')') at++;
    else if (char === '/' && source[at + 1] === '/') {
      const end = source.indexOf('\n', at);
      if (end < 0) return source.length;
      at = end;
    } else return at;
  }
}

export function positionOf(node: ASTNode): number {
  const source = node.input;
  switch (node.op) {
    case '.':
    case '.?':
      return skip(source, node.args[0].end);
    case '[]':
    case '[?]':
      return skip(source, node.args[0].end);
    case 'call':
      return source.indexOf('(', node.start + node.args[0].length);
    case 'rcall': {
      const dot = skip(source, node.args[1].end);
      return source.indexOf('(', source.indexOf(node.args[0], dot) + node.args[0].length);
    }
    case '?:':
      return skip(source, node.args[0].end);
    case 'value':
    case 'id':
    case 'list':
    case 'map':
    case '!_':
    case '-_':
      return node.start;
    default:
      return skip(source, node.args[0].end);
  }
}
