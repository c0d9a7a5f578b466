// `flotilla approve RUN [--stage S]` and `kubectl fleet approve KIND --name NAME`: opens a gate. Guarantee: the rest of
// the request is kept, even if another client writes it at the same time, and the approval is for the generation that
// was read.
import { type ApprovalRequest, PLAIN_APPROVAL, REJECTED } from '../../api/approval-request.ts';
import type { Condition } from '../../api/conditions.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import type { Clock } from '../../base/clock.ts';
import { formatDuration } from '../../base/duration.ts';
import { AbortError, ApiError, UserError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { type Named, titled } from '../../insight/titled.ts';
import { NAME } from '../../insight/which-placement.ts';
import { checkNamespace, familyIn, runTarget, whichRun, within } from '../../insight/which-run.ts';
import type { Connected } from '../server/connect.ts';
import { getRun } from '../server/get-run.ts';
import { getOr404 } from '../server/not-found.ts';
import { type Print, refer } from '../server/target.ts';
import { whoAmI } from '../server/who.ts';
import { type Asked, type Gate, gateAsked, gateOf, whyNotAsked } from './which-gate.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

const bad = (message: string): UserError => new UserError('BadArgument', message);

// ---- by run and stage

export interface ApproveRun extends Omit<Asked, 'stage'> {
  readonly run: string;
  /** Absent = the one that waits for an approval. */
  readonly stage?: string;
  readonly namespace?: string;
  readonly message?: string;
  readonly clock: Clock;
}

export async function approveRun(server: Server, options: ApproveRun, print: Print): Promise<void> {
  const { target, stage, when, run, request } = await setGate(server, options, { message: options.message ?? '' });
  const later = run.spec.state === 'Stop' ? '; the run is stopped and takes it when it resumes' : '';
  print.line(`${refer(target)} approved${signature(request)}: ${when} stage "${stage}"${later}`);
}

/** The run waits at the gate until it is approved or stopped. */
export async function rejectRun(server: Server, options: ApproveRun, print: Print): Promise<void> {
  const { message: text = '' } = options;
  if (text.trim() === '') throw bad('set the reason with -m; it is shown with the run');
  const user = await whoAmI(server);
  const message = `rejected${user === '' ? '' : ` by "${user}"`}: ${text}`;
  const { target, stage, when } = await setGate(server, options, { message, verdict: 'rejected' });
  print.line(`${refer(target)} rejected: ${when} stage "${stage}"; the run waits until it is approved or stopped`);
}

interface GateSet {
  readonly target: Named;
  readonly stage: string;
  readonly when: Gate['when'];
  readonly run: StagedUpdateRun;
  readonly request: ApprovalRequest;
}

async function setGate(
  server: Server,
  options: ApproveRun,
  verdict: Pick<Approving, 'message' | 'verdict'>,
): Promise<GateSet> {
  const { namespace, clock } = options;
  const which = whichRun(options.run, namespace);
  const at = runTarget(which);
  const run = await getRun(server, which);
  const asked =
    options.stage === undefined
      ? gateAsked(run, titled(at), options.when)
      : { stage: options.stage, when: options.when };
  const { stage } = asked;
  const gate = gateOf(run, titled(at), asked);
  const what = `the approval ${gate.when} stage "${stage}" of ${titled(at)}`;
  const target: Named = { resource: which.family.approvalRequest, name: gate.request, ...within(namespace) };
  const request = await setApproved(server, target, {
    ...verdict,
    clock,
    check: (request) => checkIsAsked(request, { what, gate, target, run, stage }),
    absent: () =>
      gate.isOpen
        ? new UserError('AlreadyApproved', `${what} is given already`)
        : new UserError('NotAsked', `${what} is not asked for yet: ${whyNotAsked(run)}`),
  });
  return { target, stage, when: gate.when, run, request };
}

interface Meant {
  readonly what: string;
  readonly gate: Gate;
  readonly target: Named;
  readonly run: StagedUpdateRun;
  readonly stage: string;
}

function checkIsAsked(request: ApprovalRequest, { what, gate, target, run, stage }: Meant): void {
  const { spec, status, metadata } = request;
  if (spec.parentStageRollout !== run.metadata.name || spec.targetStage !== stage) {
    const about = `stage "${spec.targetStage}" of run "${spec.parentStageRollout}"`;
    throw new UserError('Foreign', `${titled(target)} is not for this gate, but for ${about}`);
  }
  const isAccepted = gate.isOpen || conditionOf(status?.conditions, 'ApprovalAccepted')?.status === 'True';
  const approved = conditionOf(status?.conditions, 'Approved');
  const counts = approved?.status === 'True' && approved.observedGeneration === metadata.generation;
  if (isAccepted || counts) {
    const rest = isAccepted ? '' : '; the hub has not processed it yet';
    throw new UserError('AlreadyApproved', `${what} is given already${signature(request)}${rest}`);
  }
  if (conditionOf(run.status?.conditions, 'Succeeded') !== undefined) {
    throw new UserError('Over', `${what} is no longer needed: ${whyNotAsked(run)}`);
  }
  if (metadata.deletionTimestamp !== undefined) {
    throw new UserError('NotAsked', `${titled(target)} is being deleted: the run requests it again afterwards`);
  }
}

const signature = ({ status }: ApprovalRequest): string =>
  status?.approval === undefined ? '' : ` by "${status.approval.user}" at ${status.approval.time}`;

// ---- by kind and name

export interface ApproveRequest {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const KINDS: Readonly<Record<string, 'cluster' | 'namespaced'>> = {
  clusterapprovalrequest: 'cluster',
  careq: 'cluster',
  approvalrequest: 'namespaced',
  areq: 'namespaced',
};

/** The request by kind and name. Throws a UserError on invalid arguments before any server is called. */
export function requestNamed({ kind, name, namespace }: Pick<ApproveRequest, 'kind' | 'name' | 'namespace'>): Named {
  const word = kind.toLowerCase();
  const scope = Object.hasOwn(KINDS, word) ? KINDS[word] : undefined;
  if (scope === undefined) {
    throw bad(`cannot approve a "${kind}": clusterapprovalrequest (careq) or approvalrequest (areq)`);
  }
  if (scope === 'cluster' && namespace !== undefined) {
    throw bad('a ClusterApprovalRequest is in no namespace: omit -n, or approve an approvalrequest');
  }
  if (scope === 'namespaced' && namespace === undefined) {
    throw bad('an ApprovalRequest is in a namespace: name it with -n, such as -n team');
  }
  if (!NAME.test(name)) throw bad(`"${name}" cannot be the name of an approval request`);
  checkNamespace(namespace);
  return { resource: familyIn(namespace).approvalRequest, name, ...within(namespace) };
}

export async function approveRequest(server: Server, options: ApproveRequest, print: Print): Promise<void> {
  const { timeoutMs, clock } = options;
  const target = requestNamed(options);
  const over = new AbortController();
  const cancel = clock.at(clock.now() + timeoutMs, 'approve gives up', () => over.abort());
  try {
    await setApproved(server, target, { message: '', clock, signal: over.signal });
  } catch (error) {
    if (!(error instanceof AbortError)) throw error;
    throw new UserError('Timeout', `${titled(target)} could not be approved within ${formatDuration(timeoutMs)}`, {
      cause: error,
    });
  } finally {
    cancel();
  }
  print.line(`${refer(target)} approved`);
}

// ---- both

interface Approving {
  readonly message: string;
  /** Absent = it is approved. */
  readonly verdict?: 'rejected';
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Throws if this request must not be approved. */
  check?(request: ApprovalRequest): void;
  /** Instead of the usual NotFound error. */
  absent?(): UserError;
}

async function setApproved(server: Server, at: Named, approving: Approving): Promise<ApprovalRequest> {
  const { message, clock, signal } = approving;
  for (;;) {
    const request = (await getOr404(server, at, '', signal).catch((error) => {
      if (error instanceof UserError && error.reason === 'NotFound') throw approving.absent?.() ?? error;
      throw error;
    })) as ApprovalRequest;
    approving.check?.(request);
    const old = request.status?.conditions ?? [];
    const { generation, resourceVersion } = request.metadata;
    const approved: Condition = nextCondition(
      conditionOf(old, 'Approved'),
      {
        type: 'Approved',
        status: approving.verdict === undefined ? 'True' : 'False',
        reason: `${at.resource.kind}${approving.verdict === undefined ? 'Approved' : REJECTED}`,
        message: message === '' ? PLAIN_APPROVAL : message,
        observedGeneration: generation,
      },
      clock.now(),
    );
    // The patch replaces the whole list, so it requires the resourceVersion that was read.
    const conditions = [...old.filter(({ type }) => type !== 'Approved'), approved];
    const body = { metadata: { resourceVersion }, status: { conditions } } as unknown as Json;
    try {
      const { object } = await server.transport.call(
        {
          verb: 'patch',
          at: { ...at, subresource: 'status' },
          patch: { type: 'merge', body },
          manager: 'flotilla',
        },
        signal,
      );
      return object as ApprovalRequest;
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'Conflict')) throw error;
      if (signal?.aborted) throw new AbortError('given up');
    }
  }
}
