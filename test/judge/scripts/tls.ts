// A certificate and its key, made anew each time: input of `create secret tls`.
// Node 20 leaves half of this module out if certificates are looked at before it is loaded.
import 'node:tls';
import { filesInMemory, loadOrCreatePki } from '../../../src/apiserver/auth/pki.ts';
import { wallClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';

const { server } = await loadOrCreatePki({ files: filesInMemory(), now: wallClock.now(), random: systemRandom });

export const certificate: string = server.certificate;
export const privateKey: string = server.privateKey;
