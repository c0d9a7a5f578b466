// The user of a benchmark: sends a request, hears lines of a stream. Plain node:https, the same for what is measured and what it is measured against.
import https from 'node:https';
import { createInterface } from 'node:readline';

export interface Wire {
  readonly port: number;
  readonly ca: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

const agent = new https.Agent({ keepAlive: true });
const optionsOf = (wire: Wire) => ({ ...wire, host: '127.0.0.1', servername: 'localhost' });

export function send(
  wire: Wire,
  method: string,
  path: string,
  body?: string,
  type = 'application/json',
  accept = 'application/json',
) {
  return new Promise<string>((resolve, reject) => {
    const content = body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const headers = { accept, ...content };
    const request = https.request({ ...optionsOf(wire), agent, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if ((response.statusCode ?? 500) < 400) resolve(text);
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Ends when the result is called. */
export async function listen(
  wire: Wire,
  path: string,
  hear: (line: string) => void,
  accept = 'application/json',
): Promise<() => void> {
  const request = https.get({ ...optionsOf(wire), agent: false, path, headers: { accept } });
  const response = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  let isEnded = false;
  createInterface({ input: response })
    .on('line', hear)
    .on('error', (error) => {
      if (!isEnded) throw error;
    });
  return () => {
    isEnded = true;
    request.destroy();
  };
}
