/** A cluster's API as a story asks it: requests as its admin, and waiting for what it will say. */
import {Agent, request} from 'node:https';
import {setTimeout as pause} from 'node:timers/promises';

// biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
type Json = any;

export interface ClusterApi {
  /** @throws Error with the status and the message of a refusal */
  ask(method: string, path: string, body?: object): Promise<Json>;
  text(path: string): Promise<string>;
  /** Polls until the object there satisfies; undefined: there is none. Resolves with it. */
  until(path: string, what: string, satisfied: (object: Json) => boolean, withinMs?: number): Promise<Json>;
  close(): void;
}

const pollMs = 50;
const defaultWithinMs = 60_000;

export function clusterApi(url: string, token: string): ClusterApi {
  const agent = new Agent({keepAlive: true, rejectUnauthorized: false});
  const send = (method: string, path: string, body?: object): Promise<{status: number; text: string}> =>
    new Promise((resolve, reject) => {
      const headers = {authorization: `Bearer ${token}`, ...(body && {'content-type': 'application/json'})};
      const sent = request(new URL(path, url), {method, agent, headers}, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({status: response.statusCode!, text: Buffer.concat(chunks).toString()}));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  const must = async (method: string, path: string, body?: object): Promise<string> => {
    const {status, text} = await send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return text;
  };
  return {
    ask: async (method, path, body) => JSON.parse(await must(method, path, body)),
    text: (path) => must('GET', path),
    async until(path, what, satisfied, withinMs = defaultWithinMs) {
      let last: Json;
      for (const end = Date.now() + withinMs; Date.now() < end; await pause(pollMs)) {
        const {status, text} = await send('GET', path).catch((error: Error) => ({status: 0, text: error.message}));
        if (status !== 200 && status !== 404) continue;
        last = status === 200 ? JSON.parse(text) : undefined;
        if (satisfied(last)) return last;
      }
      throw new Error(`never: ${what}\n${JSON.stringify(last?.status ?? last, null, 1)}`);
    },
    close: () => agent.destroy(),
  };
}
