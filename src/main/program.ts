// All commands. Their flags are in commands/, one file per group; the implementation of each command is in a file of
// its own.
import { Command } from 'commander';
import type { ColorMode } from '../cli/terminal/paint.ts';
import { addApproveRequest, addApproveRun, addReject } from './commands/approve.ts';
import { addConvert } from './commands/convert.ts';
import { addDiff } from './commands/diff.ts';
import { addDrain, addDrainCluster } from './commands/drain.ts';
import { usePaint } from './commands/flags.ts';
import { addFreeze, addUnfreeze } from './commands/freeze.ts';
import { addCompletion, addExplain } from './commands/habits.ts';
import { addLeave, addMembers, addTaint } from './commands/members.ts';
import { addApply, addDelete, addDescribe, addGet } from './commands/objects.ts';
import { addOverrides } from './commands/overrides.ts';
import { addPause } from './commands/pause.ts';
import { addPlan } from './commands/plan.ts';
import { addRun, addStatus, addWhy } from './commands/progress.ts';
import { addHistory, addRollback } from './commands/revisions.ts';
import { addApiserver, addHub, addMember, addMembersProcess, addPretend, addUp } from './commands/servers.ts';
import { addCrds, addJoin, addPolicies, addRoles } from './commands/setup.ts';
import { addSync } from './commands/sync.ts';
import { VERSION } from './version.ts';

/** Its `approve` is compatible with KubeFleet's plugin, so that scripts work with both. */
export const PLUGIN = 'kubectl fleet';

export function program(name: string): Command {
  const root = new Command(name)
    // A command may have the same options as its subcommands: `plan -f` and `plan run -f`.
    .enablePositionalOptions()
    .description('Rolls out changes to every Kubernetes cluster of a fleet, safely.')
    .version(VERSION, '-V, --version', 'Print the version')
    .hook('preAction', (_root, action) => usePaint(action.opts<{ color?: ColorMode }>().color))
    .helpOption('-h, --help', 'Display help for command')
    .helpCommand('help [command]', 'Display help for command')
    .showHelpAfterError('(see --help)');
  const isPlugin = name === PLUGIN;
  if (!isPlugin) {
    addUp(root);
    addMembersProcess(root);
  }
  addHub(root);
  addMember(root);
  addJoin(root);
  addApiserver(root);
  addPretend(root);
  addCrds(root);
  addRoles(root);
  addPolicies(root);
  // kubectl itself has these.
  if (!isPlugin) for (const add of [addApply, addGet, addDescribe, addDelete]) add(root);
  addStatus(root);
  addRun(root);
  addWhy(root);
  addHistory(root);
  addRollback(root);
  addPlan(root);
  addDiff(root);
  addOverrides(root);
  addPause(root);
  addSync(root);
  addFreeze(root);
  addUnfreeze(root);
  addConvert(root);
  if (isPlugin) {
    addApproveRequest(root);
    addDrainCluster(root);
  } else addApproveRun(root);
  addReject(root);
  addMembers(root);
  addTaint(root);
  addLeave(root);
  addDrain(root);
  addExplain(root);
  addCompletion(root);
  return root;
}
