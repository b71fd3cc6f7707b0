/** A request that a probe or a hook makes: 200 to 399 is well, the certificate does not matter, redirects to the same host are followed. */
import http from 'node:http';
import https from 'node:https';
import type {Handler} from '../pods/pod.ts';

export interface Outcome {
  result: 'success' | 'failure' | 'unknown';
  output: string;
}

type HttpGet = Omit<NonNullable<Handler['httpGet']>, 'port'> & {port: number};

const maxBodyBytes = 10 * 1024;
const maxRedirects = 10;
const redirected: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export async function httpCheck(
  {path = '/', port, scheme = 'HTTP', httpHeaders = []}: HttpGet,
  host: string,
  timeoutMs: number,
  userAgent: string,
): Promise<Outcome> {
  const origin = `${scheme.toLowerCase()}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(path, origin)) return {result: 'failure', output: `invalid path ${JSON.stringify(path)}`};
  let url = new URL(path, origin);
  const headers: Record<string, string | string[]> = {'user-agent': userAgent, accept: '*/*', connection: 'close'};
  for (const {name, value} of httpHeaders) {
    const key = name.toLowerCase();
    if (key === 'accept' && value === '') delete headers.accept;
    else if (key === 'user-agent' || key === 'accept' || key === 'host') headers[key] = value;
    else headers[key] = [headers[key] ?? [], value].flat();
  }
  // Of a clock that is never set.
  const deadline = performance.now() + timeoutMs;
  for (let redirects = 0; ; redirects++) {
    const answer = await get(url, headers, Math.max(1, deadline - performance.now()));
    if ('error' in answer) return {result: 'failure', output: `Get ${JSON.stringify(url.href)}: ${answer.error}`};
    const {status, location, body} = answer;
    if (redirected.has(status) && location && URL.canParse(location, url.href)) {
      const next = new URL(location, url.href);
      if (next.hostname === url.hostname) {
        if (redirects >= maxRedirects - 1)
          return {result: 'failure', output: `Get ${JSON.stringify(next.href)}: stopped after ${maxRedirects} redirects`};
        url = next;
        continue;
      }
      return {result: 'success', output: `Probe terminated redirects, Response body: ${body}`};
    }
    if (status >= 200 && status < 400) return {result: 'success', output: body};
    return {result: 'failure', output: `HTTP probe failed with statuscode: ${status}`};
  }
}

type Answer = {status: number; location: string | undefined; body: string} | {error: string};

function get(url: URL, headers: Record<string, string | string[]>, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    const client = url.protocol === 'https:' ? https : http;
    const timer = setTimeout(() => {
      request.destroy();
      resolve({error: 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'});
    }, timeoutMs);
    const settle = (answer: Answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const request = client.request(
      url.href,
      {headers, agent: false, ...(url.protocol === 'https:' && {rejectUnauthorized: false})},
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const done = () =>
          settle({
            status: response.statusCode ?? 0,
            location: response.headers.location,
            body: Buffer.concat(chunks).toString().slice(0, maxBodyBytes),
          });
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size < maxBodyBytes) return;
          done();
          response.destroy();
        });
        response.on('end', done);
        response.on('error', (error) => settle({error: error.message}));
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => settle({error: goWords(error, url)}));
    request.end();
  });
}

const goWords = (error: NodeJS.ErrnoException, url: URL): string =>
  error.code === 'ECONNREFUSED'
    ? `dial tcp ${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}: connect: connection refused`
    : error.message;
