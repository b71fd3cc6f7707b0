/** A gateway that holds connections, for tests: what was posted to each, and the events that it calls functions with. */
import type {Sockets} from './sockets.ts';

export class TestGateway implements Sockets {
  readonly posted = new Map<string, string[]>();
  readonly gone = new Set<string>();
  readonly closed: string[] = [];
  failing: ((connection: string) => void) | undefined;
  /** Takes its time, as posts do. */
  underWay: ((text: string) => Promise<void>) | undefined;

  async post(connection: string, messages: readonly Uint8Array[]): Promise<'sent' | 'gone'> {
    this.failing?.(connection);
    await this.underWay?.(Buffer.concat(messages).toString());
    if (this.gone.has(connection)) return 'gone';
    const posted = this.posted.get(connection) ?? [];
    this.posted.set(connection, posted);
    posted.push(...messages.map((message) => Buffer.from(message).toString()));
    return 'sent';
  }

  async close(connection: string): Promise<void> {
    this.closed.push(connection);
  }

  // biome-ignore lint/suspicious/noExplicitAny: whatever was said
  heard(connection: string): any[] {
    return (this.posted.get(connection) ?? []).map((text) => {
      const [head, ...lines] = text.split('\n');
      const said = JSON.parse(head!);
      const events = said.action === 'data' ? [] : lines.filter(Boolean).map((line) => JSON.parse(line));
      return {...said, ...(events.length > 0 && {events})};
    });
  }

  /** `TYPE name` of every event, in the order in which they came. */
  events(connection: string): string[] {
    return this.heard(connection).flatMap(({events = []}) =>
      events.map(({type, object}: {type: string; object: {metadata: {name: string}}}) => `${type} ${object.metadata.name}`),
    );
  }
}

type Route = '$connect' | '$default' | '$disconnect';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-mapping-template-reference.html */
export const socketEvent = (routeKey: Route, connectionId: string, more: object = {}, now = Date.now()) => ({
  requestContext: {
    routeKey,
    eventType: {$connect: 'CONNECT', $default: 'MESSAGE', $disconnect: 'DISCONNECT'}[routeKey],
    extendedRequestId: 'd1FxQHlOoAMFsTg=',
    requestTime: '21/Nov/2026:13:00:00 +0000',
    messageDirection: 'IN',
    stage: 'prod',
    connectedAt: now,
    requestTimeEpoch: now,
    identity: {sourceIp: '203.0.113.7'},
    requestId: 'd1FxQHlOoAMFsTg=',
    domainName: 'abcdef1234.execute-api.us-east-1.amazonaws.com',
    connectionId,
    apiId: 'abcdef1234',
  },
  isBase64Encoded: false,
  ...more,
});

/** A handshake. */
export const connectEvent = (connectionId: string, protocol: string, headers: Record<string, string> = {}) =>
  socketEvent('$connect', connectionId, {
    headers: {Host: 'abcdef1234.execute-api.us-east-1.amazonaws.com', 'Sec-WebSocket-Protocol': protocol, ...headers},
    multiValueHeaders: Object.fromEntries(
      Object.entries({'Sec-WebSocket-Protocol': protocol, ...headers}).map(([name, value]) => [name, [value]]),
    ),
  });
