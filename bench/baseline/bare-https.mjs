// The least that node:https can do for the same traffic: what our API server is measured against.
//   node bare-https.mjs CERT KEY CA ITEMS BYTES     prints its port
// POST /echo parses and serialises the body; GET /object sends cached bytes; GET /list joins cached bytes of all items; GET /watch keeps the
// stream open, and POST /emit writes one shared buffer to all open streams. As on our server the client shows a certificate.
import { readFileSync } from 'node:fs';
import https from 'node:https';

const [, , certFile, keyFile, caFile, items, bytes] = process.argv;
const object = Buffer.from(
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    data: { text: 'x'.repeat(Number(bytes)) },
  }),
);
const cached = Array.from({ length: Number(items) }, () => Buffer.from(object));
const comma = Buffer.from(',');
const watchers = new Set();

function body(request, use) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => use(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
}

function send(response, status, content) {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': content.length });
  response.end(content);
}

const routes = {
  '/echo': (request, response) =>
    body(request, (content) => send(response, 201, Buffer.from(JSON.stringify(JSON.parse(content.toString()))))),
  '/object': (_request, response) => send(response, 200, object),
  '/list': (_request, response) => {
    const parts = [Buffer.from('{"kind":"List","items":[')];
    for (const each of cached) parts.push(each, comma);
    parts[parts.length - 1] = Buffer.from(']}');
    send(response, 200, Buffer.concat(parts));
  },
  '/watch': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    watchers.add(response);
    response.on('close', () => watchers.delete(response));
  },
  '/emit': (request, response) =>
    body(request, (content) => {
      const line = Buffer.concat([Buffer.from('{"type":"MODIFIED","object":'), content, Buffer.from('}\n')]);
      for (const watcher of watchers) watcher.write(line);
      send(response, 201, content);
    }),
};

const server = https.createServer(
  {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ca: readFileSync(caFile),
    requestCert: true,
    rejectUnauthorized: true,
    keepAliveTimeout: 90_000,
  },
  (request, response) => (routes[request.url.split('?')[0]] ?? routes['/object'])(request, response),
);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit());
