// The grammars of Kubernetes names and values, as patterns that RE2 and JavaScript interpret alike.

/** `app`, `kubernetes-fleet.io/member-name`. */
export const QUALIFIED_NAME =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
/** A prefix of 253, a slash and a name of 63 characters. */
export const QUALIFIED_NAME_LENGTH = 317;

/** A label's value; may be empty. */
export const LABEL_VALUE = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';
export const LABEL_VALUE_LENGTH = 63;

/** `eu-1`, `eu-1.example.com`. */
export const SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

/** `2`, `500m`, `16Gi`, `1e3`. */
export const QUANTITY =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

/** `1h`, `1h30m`, `0.5s`. */
export const DURATION = '^((0|[1-9][0-9]*)(\\.[0-9]+)?(s|m|h))+$';

/** `0` to `100%` as text, or digits. */
export const COUNT_OR_PERCENT = '^((100|[0-9]{1,2})%|[0-9]+)$';
export const PERCENT = '^(100|[0-9]{1,2})%$';
export const PERCENT_FROM_1 = '^(100|[1-9][0-9]?)%$';
