// `flotilla apiserver`: one embedded API server on this machine, durable by default.

import { hubAdmissions } from '../api/admission-warnings.ts';
import { hubKinds, memberKinds } from '../api/kinds.ts';
import { shellWord } from '../base/shell.ts';
import { type EmbeddedOptions, HUB, kubeconfigFile, openEmbedded, openness } from './embedded.ts';
import { firstSignal } from './signals.ts';

export interface ApiserverOptions extends EmbeddedOptions {
  readonly kubeconfig?: string;
}

export async function apiserver(options: ApiserverOptions): Promise<void> {
  const stopped = firstSignal();
  await using embedded = await openEmbedded(options);
  await embedded.start(HUB, [...hubKinds, ...memberKinds], hubAdmissions);
  await using listening = await embedded.listen();
  const kubeconfig = kubeconfigFile(options);
  await embedded.writeKubeconfig(kubeconfig, listening.port);
  const data = options.inMemory ? 'in memory: data is lost on exit' : `data in ${options.dataDir}`;
  console.log(`flotilla: API server ready at ${embedded.url(listening.port)} (${data})`);
  if (embedded.isOpen) console.log(openness(embedded.url(listening.port)));
  console.log(`export KUBECONFIG=${shellWord(kubeconfig)}`);
  await stopped;
  console.log('flotilla: stopping');
}
