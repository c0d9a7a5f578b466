// YAML that every reader interprets alike: words that YAML 1.1 readers (such as kubectl) take for booleans, numbers or
// merge keys are quoted, as values and as keys.
import { Document, type Scalar, type TagId, type Tags, visit } from 'yaml';

/** The library's 1.1 mode knows all of these words except a few. */
const ALSO_SPECIAL = /^(?:<<|=|0o[0-7]+)$/i;

/** With this tag, `<<` would be written without quotes. */
const withoutMergeKeys = (tags: Tags): Tags =>
  tags.filter(
    (tag) => tag !== ('merge' satisfies TagId) && (typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge'),
  );

export function writeYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.1',
    customTags: withoutMergeKeys,
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar(_key, node: Scalar) {
      if (typeof node.value === 'string' && ALSO_SPECIAL.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0, indentSeq: false });
}
