// Validation of Pod specs, with the messages and in the order of a real server: the errors that users make every day.
// Not checked here: security contexts, Pod affinity terms, devices, and volume sources that cannot be mounted here.
import type { FieldCause } from '../../api/kind.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../api/status.ts';
import { labelValueErrors, qualifiedNameErrors } from '../../base/names.ts';
import { claimSpecCauses } from './claim-spec.ts';
import { containerCauses, descendingPath, noBacksteps } from './containers.ts';
import type { NodeSelectorTerm, PodSpec, PodTemplate, Toleration, Volume } from './drafts.ts';
import {
  annotations,
  type Causes,
  complaints,
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  labels,
  oneOf,
  requiredOneOf,
  selectorCauses,
} from './field-checks.ts';

const MAX_INT32 = 2 ** 31 - 1;
export const TAINT_EFFECTS: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** `moreVolumes`: names that mounts may use in addition to the template's own volumes. */
export function podTemplateCauses(
  field: string,
  template: PodTemplate | undefined,
  moreVolumes: readonly string[] = [],
): Causes {
  return [
    ...labels(`${field}.labels`, template?.metadata?.labels),
    ...annotations(`${field}.annotations`, template?.metadata?.annotations),
    ...podSpecCauses(`${field}.spec`, template?.spec ?? {}, moreVolumes),
  ];
}

export function podSpecCauses(field: string, spec: PodSpec, moreVolumes: readonly string[] = []): Causes {
  const causes: FieldCause[] = [];
  const names = new Set<string>();
  spec.volumes?.forEach((volume, index) => {
    causes.push(...volumeCauses(`${field}.volumes[${index}]`, volume, names));
  });
  for (const name of moreVolumes) names.add(name);
  causes.push(
    ...containerCauses(field, spec, names),
    ...requiredOneOf(`${field}.restartPolicy`, spec.restartPolicy, ['Always', 'OnFailure', 'Never']),
    ...requiredOneOf(`${field}.dnsPolicy`, spec.dnsPolicy, [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...labels(`${field}.nodeSelector`, spec.nodeSelector),
    ...nodeAffinityCauses(`${field}.affinity.nodeAffinity`, spec.affinity?.nodeAffinity),
    ...spreadCauses(`${field}.topologySpreadConstraints`, spec),
  );
  if (spec.serviceAccountName) causes.push(...dnsSubdomain(`${field}.serviceAccountName`, spec.serviceAccountName));
  if (spec.nodeName) causes.push(...dnsSubdomain(`${field}.nodeName`, spec.nodeName));
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    const why = `must be between 1 and ${MAX_INT32}, inclusive`;
    causes.push(invalidValue(`${field}.activeDeadlineSeconds`, deadline, why));
  }
  if (spec.hostname) causes.push(...dnsLabel(`${field}.hostname`, spec.hostname));
  if (spec.subdomain) causes.push(...dnsLabel(`${field}.subdomain`, spec.subdomain));
  spec.tolerations?.forEach((toleration, index) => {
    causes.push(...tolerationCauses(`${field}.tolerations[${index}]`, toleration));
  });
  causes.push(...gateCauses(field, spec), ...placeCauses(field, spec));
  if (spec.priorityClassName) causes.push(...dnsSubdomain(`${field}.priorityClassName`, spec.priorityClassName));
  if (spec.preemptionPolicy !== undefined) {
    causes.push(
      ...requiredOneOf(`${field}.preemptionPolicy`, spec.preemptionPolicy, ['PreemptLowerPriority', 'Never']),
    );
  }
  return causes;
}

/** Scheduling gates and readiness gates, by name. */
function gateCauses(field: string, spec: PodSpec): Causes {
  const seen = new Set<string>();
  const scheduling = (spec.schedulingGates ?? []).flatMap(({ name = '' }, index) => {
    const at = `${field}.schedulingGates[${index}]`;
    const causes = [
      ...complaints(at, name, qualifiedNameErrors(name)),
      ...(seen.has(name) ? [duplicate(at, name)] : []),
    ];
    seen.add(name);
    return causes;
  });
  const readiness = (spec.readinessGates ?? []).flatMap(({ conditionType = '' }, index) =>
    complaints(`${field}.readinessGates[${index}].conditionType`, conditionType, qualifiedNameErrors(conditionType)),
  );
  return [...scheduling, ...readiness];
}

/** Validates where and how the Pod runs. */
function placeCauses(field: string, spec: PodSpec): Causes {
  const { dnsPolicy, dnsConfig, hostAliases = [], os, runtimeClassName } = spec;
  return [
    ...(dnsPolicy === 'None' && (dnsConfig?.nameservers ?? []).length === 0
      ? [
          dnsConfig === undefined
            ? required(`${field}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')
            : required(
                `${field}.dnsConfig.nameservers`,
                'must provide at least one DNS nameserver when `dnsPolicy` is None',
              ),
        ]
      : []),
    ...hostAliases.flatMap(({ ip = '', hostnames = [] }, index) => [
      ...ipAddress(`${field}.hostAliases[${index}].ip`, ip),
      ...hostnames.flatMap((name) => dnsSubdomain(`${field}.hostAliases[${index}].hostnames`, name)),
    ]),
    ...(os === undefined
      ? []
      : requiredOneOf(os.name ? `${field}.os` : `${field}.os.name`, os.name, ['linux', 'windows'])),
    ...(runtimeClassName === undefined ? [] : dnsSubdomain(`${field}.runtimeClassName`, runtimeClassName)),
  ];
}

// In the order of a real server; the first one set is the volume's type.
const SOURCES = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi'],
  ...['glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc'],
  ...['flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk'],
  ...['storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
];

/** A real server has this typo. */
const SPELT: Readonly<Record<string, string>> = { downwardAPI: 'downwarAPI' };

/** One volume; adds its name to `names` if mounts may use it. */
function volumeCauses(field: string, volume: Volume, names: Set<string>): Causes {
  const causes: FieldCause[] = [];
  const given = SOURCES.filter((source) => volume[source] !== undefined && volume[source] !== null);
  given.forEach((source, index) => {
    if (index > 0)
      causes.push(forbiddenField(`${field}.${SPELT[source] ?? source}`, 'may not specify more than 1 volume type'));
    else causes.push(...sourceCauses(`${field}.${source}`, source, volume));
  });
  if (given.length === 0) causes.push(required(field, 'must specify a volume type'));
  const name = volume.name ?? '';
  const nameCauses = name === '' ? [required(`${field}.name`)] : dnsLabel(`${field}.name`, name);
  causes.push(...nameCauses);
  if (names.has(name)) causes.push(duplicate(`${field}.name`, name));
  if (causes.length === 0) names.add(name);
  return causes;
}

function sourceCauses(field: string, source: string, volume: Volume): Causes {
  const mode = (value: number | undefined): Causes =>
    value !== undefined && (value < 0 || value > 0o777)
      ? [invalidValue(`${field}.defaultMode`, value, 'must be a number between 0 and 0777 (octal), both inclusive')]
      : [];
  switch (source) {
    case 'hostPath': {
      const path = volume.hostPath?.path ?? '';
      return path === '' ? [required(`${field}.path`)] : noBacksteps(`${field}.path`, path);
    }
    case 'secret':
      return [
        ...(volume.secret?.secretName ? [] : [required(`${field}.secretName`)]),
        ...mode(volume.secret?.defaultMode),
      ];
    case 'configMap':
      return [...(volume.configMap?.name ? [] : [required(`${field}.name`)]), ...mode(volume.configMap?.defaultMode)];
    case 'persistentVolumeClaim':
      return volume.persistentVolumeClaim?.claimName ? [] : [required(`${field}.claimName`)];
    case 'downwardAPI':
      return [...mode(volume.downwardAPI?.defaultMode), ...downwardCauses(field, volume.downwardAPI?.items ?? [])];
    case 'ephemeral': {
      const claim = volume.ephemeral?.volumeClaimTemplate;
      const at = `${field}.volumeClaimTemplate`;
      return claim === undefined ? [required(at)] : claimSpecCauses(`${at}.spec`, claim.spec ?? {});
    }
    case 'projected':
      return mode(volume.projected?.defaultMode);
    default:
      return [];
  }
}

function downwardCauses(field: string, items: NonNullable<NonNullable<Volume['downwardAPI']>['items']>): Causes {
  return items.flatMap(({ path = '', fieldRef, resourceFieldRef }) => [
    ...(path === '' ? [required(`${field}.path`)] : descendingPath(`${field}.path`, path)),
    ...(fieldRef && !fieldRef.fieldPath ? [required(`${field}.fieldRef.fieldPath`)] : []),
    ...(fieldRef && resourceFieldRef
      ? [invalidValue(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
      : []),
    ...(!fieldRef && !resourceFieldRef ? [required(field, 'one of fieldRef and resourceFieldRef is required')] : []),
  ]);
}

function tolerationCauses(field: string, toleration: Toleration): Causes {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const causes: FieldCause[] = [];
  if (key !== '') causes.push(...complaints(`${field}.key`, key, qualifiedNameErrors(key)));
  else if (operator !== 'Exists') {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    causes.push(invalidValue(`${field}.operator`, operator, why));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    causes.push(invalidValue(`${field}.effect`, effect, why));
  }
  if (operator === 'Equal' || operator === '') {
    const errors = labelValueErrors(value);
    if (errors.length > 0) causes.push(invalidValue(`${field}.operator`, value, errors.join(';')));
  } else if (operator === 'Exists') {
    if (value !== '') {
      causes.push(invalidValue(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    }
  } else causes.push(...oneOf(`${field}.operator`, operator, ['Equal', 'Exists']));
  if (effect !== '') causes.push(...oneOf(`${field}.effect`, effect, TAINT_EFFECTS));
  return causes;
}

function nodeAffinityCauses(
  field: string,
  affinity: NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']> | undefined,
): Causes {
  if (!affinity) return [];
  const causes: FieldCause[] = [];
  const hard = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  if (hard) {
    const at = `${field}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    const terms = hard.nodeSelectorTerms ?? [];
    if (terms.length === 0) causes.push(required(at, 'must have at least one node selector term'));
    terms.forEach((term, index) => {
      causes.push(...termCauses(`${at}[${index}]`, term));
    });
  }
  affinity.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ weight = 0, preference }, index) => {
    const at = `${field}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    if (weight <= 0 || weight > 100) causes.push(invalidValue(`${at}.weight`, weight, 'must be in the range 1-100'));
    causes.push(...termCauses(`${at}.preference`, preference ?? {}));
  });
  return causes;
}

function termCauses(field: string, term: NodeSelectorTerm): Causes {
  return (term.matchExpressions ?? []).flatMap((expression, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const { key = '', operator = '', values = [] } = expression;
    const causes: FieldCause[] = [];
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        causes.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        causes.push(forbiddenField(`${at}.values`, why));
      }
    } else if (operator === 'Gt' || operator === 'Lt') {
      if (values.length !== 1) {
        causes.push(required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      }
    } else causes.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    causes.push(...complaints(`${at}.key`, key, qualifiedNameErrors(key)));
    return causes;
  });
}

function spreadCauses(field: string, spec: PodSpec): Causes {
  return (spec.topologySpreadConstraints ?? []).flatMap((constraint, index) => {
    const at = `${field}[${index}]`;
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable } = constraint;
    return [
      ...(maxSkew <= 0 ? [invalidValue(`${at}.maxSkew`, maxSkew, 'must be greater than zero')] : []),
      ...(topologyKey === ''
        ? [required(`${at}.topologyKey`, 'can not be empty')]
        : complaints(`${at}.topologyKey`, topologyKey, qualifiedNameErrors(topologyKey))),
      ...oneOf(`${at}.whenUnsatisfiable`, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']),
      ...selectorCauses(`${at}.labelSelector`, constraint.labelSelector),
    ];
  });
}
