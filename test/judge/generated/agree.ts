// Whether two answers to a generated request agree, apart from what docs/known-differences.md tells. Returns what differs.
import { canonicalJson, isObject } from '../../../src/base/json.ts';
import { type Answer, answerOf, type Difference, differences } from '../answer.ts';
import type { Reply } from '../server.ts';

/** `go-structs`: a real server shows values as its Go structs, and a Pod's change as a diff of them. */
const worded = (text: string): string =>
  text
    .replace(
      /(Invalid value|Unsupported value|Duplicate value): (?:\{.*\}|\[.*\]|null|OBJECT|"\{.*\}")(?=: [a-z`]|$)/s,
      '$1: {…}',
    )
    .replace(/\n@@ [\s\S]*$/, '')
    .replace(/ of type \S+$/, ' of type …')
    // `library-words`
    .replace(/ at input byte \d+$/, '');

/** `strategic-type-error`: the words, and for some the code, in which a strategic patch with a value of the wrong type is refused. */
const isStrategicTypeError = (message: string): boolean =>
  /unrecognized type|cannot restore|cannot convert|expected a |^invalid (?:format|patch format)|cannot unmarshal|does not contain declared merge key|illegal/.test(
    message,
  );

const isRefusal = (body: unknown): body is Readonly<Record<string, unknown>> =>
  isObject(body) && body['kind'] === 'Status';

/** `advice`: what a real server has to say of objects that it takes. Of fields that it does not know both warn. */
const withoutAdvice = (warnings: readonly string[] = []): readonly string[] =>
  warnings.filter((text) => /unknown field|duplicate field/.test(text));

function known({ code, warnings, body }: Answer): unknown {
  if (!isRefusal(body)) return { code, warnings: withoutAdvice(warnings), body };
  const message = worded(String(body['message']));
  return JSON.parse(
    canonicalJson({ code, reason: body['reason'], message, causes: causesOf(body['details']) }),
  ) as unknown;
}

const causesOf = (details: unknown): unknown =>
  isObject(details) && Array.isArray(details['causes'])
    ? [
        ...new Set(
          details['causes'].map(
            (cause: Readonly<Record<string, string>>) =>
              `${cause['field']} ${cause['reason']} ${worded(cause['message'] ?? '')}`,
          ),
        ),
      ].toSorted()
    : undefined;

export function disagreement(ours: Reply, real: Reply, isStrategic = false): readonly Difference[] {
  const [mine, theirs] = [answerOf(ours), answerOf(real)];
  if (isStrategic && mine.code >= 400 && isRefusal(theirs.body) && isStrategicTypeError(String(theirs.body['message'])))
    return [];
  return differences(known(withoutOwnersAlone(mine, theirs)), known(theirs));
}

/** `managed-fields`: of an object with a value that does not fit its type and is taken all the same a real server keeps no owners. */
function withoutOwnersAlone(mine: Answer, theirs: Answer): Answer {
  const { body } = mine;
  if (!isObject(body) || hasOwners(theirs.body) || !hasOwners(body)) return mine;
  const { managedFields: _owners, ...metadata } = body['metadata'] as Readonly<Record<string, unknown>>;
  return { ...mine, body: { ...body, metadata } };
}

const hasOwners = (body: unknown): boolean =>
  isObject(body) && isObject(body['metadata']) && body['metadata']['managedFields'] !== undefined;
