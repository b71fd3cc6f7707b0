/** Where the emulator sends invocations (custom resources, stream mappings, schedules): POST /FUNCTION with the event, answered with what it returned. */
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {Functions} from '../lambda/functions.ts';
import {FunctionError} from '../lambda/runtime-api.ts';

export interface InvokeServer {
  url: string;
  close(): void;
}

export async function startInvokeServer(functions: () => Functions): Promise<InvokeServer> {
  const server: Server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const name = decodeURIComponent((request.url ?? '/').slice(1));
    try {
      // In the middle of a deployment: what is invoked may have been replaced a moment ago.
      await functions().refresh(name);
      const {payload} = await functions().invoke(name, Buffer.concat(pieces));
      response.writeHead(200, {'Content-Type': 'application/json'}).end(payload);
    } catch (error) {
      const errorType = error instanceof FunctionError ? error.type : 'Error';
      // Any other status than 2xx is a failed invocation to the emulator.
      response.writeHead(500, {'Content-Type': 'application/json'});
      response.end(JSON.stringify({errorType, errorMessage: error instanceof Error ? error.message : String(error)}));
    }
  });
  server.requestTimeout = 0;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
