/** A runtime client of a few lines, for tests without Node 24: does what the event says. */
import http from 'node:http';

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const base = '/2018-06-01/runtime';

function call(method, path, headers = {}, send = (request) => request.end()) {
  return new Promise((done, fail) => {
    const request = http.request({host, port, method, path: `${base}/${path}`, headers}, (response) => {
      let body = '';
      response.on('data', (piece) => {
        body += piece;
      });
      response.on('end', () => done({headers: response.headers, body}));
    });
    request.on('error', fail);
    send(request);
  });
}

const streaming = {
  'lambda-runtime-function-response-mode': 'streaming',
  'content-type': 'application/vnd.awslambda.http-integration-response',
  'transfer-encoding': 'chunked',
  trailer: 'Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body',
};

if (process.argv.at(-1) === 'broken') {
  await call('POST', 'init/error', {}, (request) =>
    request.end('{"errorType":"Runtime.ImportModuleError","errorMessage":"no such handler"}'),
  );
  process.exit(1);
}

let invocations = 0;
for (;;) {
  const {headers, body} = await call('GET', 'invocation/next');
  const id = headers['lambda-runtime-aws-request-id'];
  const event = JSON.parse(body);
  invocations++;
  const answer = {pid: process.pid, invocations, name: process.env.AWS_LAMBDA_FUNCTION_NAME, handler: process.argv.at(-1), event};
  if (event.do === 'exit') process.exit(3);
  else if (event.do === 'hang') await new Promise((done) => setTimeout(done, 1 << 30));
  else if (event.do === 'throw') {
    await call('POST', `invocation/${id}/error`, {}, (request) => request.end('{"errorType":"TypeError","errorMessage":"it broke"}'));
  } else if (event.do === 'stream' || event.do === 'break') {
    await call('POST', `invocation/${id}/response`, streaming, (request) => {
      request.write('{"statusCode":201,"headers":{"x-a":"b"}}');
      request.write(Buffer.alloc(8));
      request.write('one ');
      request.write('two');
      if (event.do === 'break') {
        request.addTrailers({
          'Lambda-Runtime-Function-Error-Type': 'Error',
          'Lambda-Runtime-Function-Error-Body': Buffer.from('half way').toString('base64'),
        });
      }
      request.end();
    });
  } else await call('POST', `invocation/${id}/response`, {}, (request) => request.end(JSON.stringify(answer)));
}
