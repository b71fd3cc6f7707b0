/**
 * Stands in for the native half of the Lambda runtime interface client, which needs a compiler: the same four calls over node:http.
 * `npm run test:setup` puts it where the client looks for its native one. Runs inside of an execution environment, so no dependencies.
 */
const http = require('node:http');

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({keepAlive: true, maxSockets: 1});

function call(method, path, body, headers) {
  return new Promise((done, fail) => {
    const framing = body === undefined ? {} : {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body)};
    const sent = http.request({
      host,
      port,
      method,
      path: `/2018-06-01/runtime/invocation/${path}`,
      agent,
      headers: {...framing, ...headers},
    });
    sent.once('error', fail);
    sent.once('response', (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece));
      response.once('error', fail);
      response.once('end', () => done({headers: response.headers, bodyJson: Buffer.concat(pieces).toString()}));
    });
    sent.end(body);
  });
}

/** The native calls block until they are through; here the next invocation waits for the answer to the one before it. */
let answered = Promise.resolve();

module.exports = {
  initializeClient() {},
  next: () => answered.then(() => call('GET', 'next')),
  done(id, body) {
    answered = call('POST', `${id}/response`, body);
  },
  error(id, body, cause) {
    answered = call('POST', `${id}/error`, body, {'Lambda-Runtime-Function-XRay-Error-Cause': cause});
  },
};
