/**
 * The monthly bill: how often each thing happens, times what it takes (calls.json, measured), times what that costs (prices.json, with its
 * date). Pure, so that a test can hold it against the goals. Sizes of functions are read from their rows.
 */
import {type FunctionName, type FunctionRow, functions} from '../../functions/functions.ts';
import {hearingMs, leaseSeconds, livePingSeconds} from '../../shared/nodes/liveness.ts';
import {maxTextDataBytes} from '../../shared/nodes/tunnel/text.ts';
import calls from './calls.json' with {type: 'json'};
import prices from './prices.json' with {type: 'json'};

export interface Usage {
  /** Whose agents have two WebSocket connections each: one that watches, and a tunnel. */
  nodes: number;
  /** Other programs with one: controllers, proxies. */
  watchers: number;
  /** HTTP watches that are always open. */
  httpWatches: number;
  writesPerSecond: number;
  readsPerSecond: number;
  listsPerSecond: number;
  /** Connections that each change is sent to. */
  watchersPerChange: number;
  /** Of objects, compressed, without what the log holds of them. */
  storedGb: number;
}

export const idle: Usage = {
  nodes: 0,
  watchers: 0,
  httpWatches: 0,
  writesPerSecond: 0,
  readsPerSecond: 0,
  listsPerSecond: 0,
  watchersPerChange: 1,
  storedGb: 0,
};

export interface Line {
  what: string;
  perMonth: number;
  unit: string;
  dollars: number;
}

type Verb = keyof typeof calls.verbs;

const secondsPerMonth = 730 * 3_600;
const minutesPerMonth = 730 * 60;
const million = 1e6;
const gb = 2 ** 30;

/** A cluster writes status more than anything else. */
const writeMix: Partial<Record<Verb, number>> = {create: 0.15, update: 0.35, patch: 0.4, delete: 0.1};
/** Of the watch protocol, deployed. */
const pingSeconds = 240;
const reconnectSeconds = 6_600;
/** hello, welcome, and for some subscriptions each a question and an answer. */
const messagesPerReconnect = 14;
/** The status of a node and its Lease; between, its tunnel tells that it lives. */
const writesPerHeartbeat = 2;
const maintenanceSeconds = 300;
/** Of an HTTP watch at rest. */
const pollSeconds = 1;
const streamSeconds = 840;
/** Of a mailbox, while nothing comes. */
const longestLookSeconds = 0.25;
const accessLogBytes = 330;
const answerBytes = 1_500;
const listAnswerBytes = 50_000;
const recordBytes = 1_200;
/** The log is kept for twice the history, and two days at least. */
const keptSeconds = 2 * 86_400;
const alarmMetrics = 6;
/** Requests, failures and duration, of hours in which there is something to tell. */
const customMetrics = 3;
/** Controllers are rung once for what comes within it (infra/change-feed.ts). */
const gatheringSeconds = 2;
/** The line by which a function tells them. */
const metricLineBytes = 420;
/** How many requests an environment serves before it goes; each reads its parameters once. */
const requestsPerEnvironment = 500;

export function bill(usage: Usage): Line[] {
  const {nodes, watchers, httpWatches, readsPerSecond, listsPerSecond, watchersPerChange, storedGb} = usage;
  const heartbeats = (nodes * secondsPerMonth * writesPerHeartbeat) / leaseSeconds;
  const writes = usage.writesPerSecond * secondsPerMonth;
  const reads = readsPerSecond * secondsPerMonth;
  const lists = listsPerSecond * secondsPerMonth;
  const watching = nodes + watchers;
  const connections = watching + nodes;
  const pings = (watching * secondsPerMonth) / pingSeconds;
  const reconnects = (watching * secondsPerMonth) / reconnectSeconds;
  const tunnelPings = (nodes * secondsPerMonth) / livePingSeconds;
  const tunnelReconnects = (nodes * secondsPerMonth) / reconnectSeconds;
  const changes = writes + heartbeats;
  const posts = changes * watchersPerChange;
  const controllerRings = changes / (1 + (changes / secondsPerMonth) * gatheringSeconds);
  const storedLog = ((changes / secondsPerMonth) * keptSeconds * recordBytes) / gb;
  const watchSeconds = httpWatches * secondsPerMonth;

  const tells = writes + reads + lists + changes + connections + httpWatches > 0 ? customMetrics : 0;

  return [
    line('metrics of requests', tells, 'metrics', tells * prices.customMetricMonth),
    line('alarms', alarmMetrics, 'metrics', alarmMetrics * prices.alarmMetricMonth),
    line(
      'maintenance, by the clock',
      secondsPerMonth / maintenanceSeconds,
      'runs',
      stage('maintenance', 'maintenance') * (secondsPerMonth / maintenanceSeconds),
    ),
    line('writes', writes, 'requests', writes * writeRequest()),
    line('reads of one object', reads, 'requests', reads * request('get', answerBytes)),
    line('lists', lists, 'requests', lists * request('list', listAnswerBytes)),
    line('changes to watchers: fan-out', changes, 'rings', changes * stage('fan-out', 'fan-out')),
    line('changes to watchers: frames', posts, 'messages', posts * frame()),
    line('changes to controllers', controllerRings, 'rings', controllerRings * stage('controllers', 'controllers')),
    line('connections', connections, 'open', connections * minutesPerMonth * (prices.socketMinutesPerMillion / million)),
    line('pings and pongs', pings, 'pings', pings * (messages(2) + stage('ping', 'socket-message'))),
    line('reconnections', reconnects, 'times', reconnects * (messages(messagesPerReconnect) + stage('reconnect', 'socket-message'))),
    line('tunnels: pings and pongs', tunnelPings, 'pings', tunnelPings * (messages(2) + stage('tunnel-ping', 'socket-message'))),
    line('tunnels: reconnections', tunnelReconnects, 'times', tunnelReconnects * (messages(2) + stage('tunnel-hello', 'socket-message'))),
    line('heartbeats of nodes', heartbeats, 'requests', heartbeats * writeRequest()),
    line('HTTP watches', httpWatches, 'open', watchSeconds * openWatchSecond()),
    line('storage: objects', storedGb, 'GB', storedGb * (prices.tableGbMonth + prices.backupGbMonth)),
    line('storage: log', storedLog, 'GB', storedLog * (prices.tableGbMonth + prices.backupGbMonth)),
  ].filter(({dollars}) => dollars > 0);
}

export const total = (lines: readonly Line[]): number => lines.reduce((sum, {dollars}) => sum + dollars, 0);

/** What a million writes a month more cost where there are some, with all that they cause. */
export function perMillionWrites(usage: Usage = idle): number {
  const perSecond = million / secondsPerMonth;
  const some = {...usage, writesPerSecond: usage.writesPerSecond + perSecond};
  return total(bill({...some, writesPerSecond: some.writesPerSecond + perSecond})) - total(bill(some));
}

/** Of one write or read by itself, in dollars a million. */
export const perMillionRequests = (verb: Verb): number => request(verb, verb === 'list' ? listAnswerBytes : answerBytes) * million;

/** What a tunnel carries, in dollars: a frame of so many bytes into a mailbox that a function reads, and one from connection to connection. */
export const tunnelFrame = {
  mailbox: (bytes: number): number =>
    messages(1) +
    stage('tunnel-frame', 'socket-message') +
    (Math.ceil(bytes / 1_024) * prices.writeUnitsPerMillion + (Math.ceil(bytes / 4_096) / 2) * prices.readUnitsPerMillion) / million,
  relayed: (): number => messages(2) + stage('tunnel-frame', 'socket-message'),
};

/** A log that is asked for once, without what it says. */
export const tunnelRequest = (): number => request('get', 0) + stage('tunnel-dial', 'connect') + messages(4);
/** An hour of a log that is followed, without what it says: the environment that holds it, and its looks at the mailbox. */
export const followedHour = (): number => {
  const looks = 3_600 / longestLookSeconds;
  return (functions.connect.memoryMb / 1024) * prices.functionGbSecond * 3_600 + (looks * prices.readUnitsPerMillion) / 2 / million;
};
/** A key that is pressed in a terminal, and its echo. */
export const keystroke = (): number => 2 * tunnelFrame.relayed();
/** Of what a tunnel carries in full frames. */
export const tunnelGb = (frame: (bytes: number) => number): number => (gb / maxTextDataBytes) * frame(maxTextDataBytes) + prices.egressGb;

/** Seconds until a node is seen to renew its Lease no more: when its connection ends, and when it falls silent without a word. */
export const deadNodeSeconds = {closed: 5, silent: hearingMs / 1_000};

const line = (what: string, perMonth: number, unit: string, dollars: number): Line => ({what, perMonth, unit, dollars});

function writeRequest(): number {
  return Object.entries(writeMix).reduce((sum, [verb, share]) => sum + share * request(verb as Verb, answerBytes), 0);
}

/** One request through the gateway, in dollars. */
function request(verb: Verb, bytes: number): number {
  return (
    prices.restRequestsPerMillion / million +
    run(verb, calls.verbs[verb]) +
    (accessLogBytes / gb) * prices.logGb +
    prices.parameterDecryptionsPerMillion / million / requestsPerEnvironment +
    egress(bytes)
  );
}

const messages = (count: number): number => (count * prices.socketMessagesPerMillion) / million;

const stage = (name: keyof typeof calls.stages, ran: FunctionName): number => run(ran, calls.stages[name]);

/** One invocation: the call, its time, its units. */
function run(
  name: FunctionName,
  {readUnits, writeUnits, milliseconds}: {readUnits: number; writeUnits: number; milliseconds: number},
): number {
  const gbSeconds = (functions[name].memoryMb / 1024) * (milliseconds / 1_000);
  return (
    prices.functionRequestsPerMillion / million +
    gbSeconds * prices.functionGbSecond +
    (logBytes(functions[name]) / gb) * prices.logGb +
    (readUnits * prices.readUnitsPerMillion + writeUnits * prices.writeUnitsPerMillion) / million
  );
}

/** A request tells its metrics, a message of a connection its access; that of requests is counted with them. */
const logBytes = ({trigger}: FunctionRow): number => (trigger === 'rest' ? metricLineBytes : trigger === 'socket' ? accessLogBytes : 0);

/** To one connection, on a topic of its own. */
const frame = (): number =>
  (prices.socketMessagesPerMillion + calls.stages.topic.writeUnits * prices.writeUnitsPerMillion) / million + egress(answerBytes);

/** An environment that does nothing but hold a stream open, and ask once in a while whether there is something new. */
function openWatchSecond(): number {
  const {list} = functions;
  return (
    (list.memoryMb / 1024) * prices.functionGbSecond +
    (calls.stages.poll.readUnits * prices.readUnitsPerMillion) / million / pollSeconds +
    request('list', listAnswerBytes) / streamSeconds
  );
}

const egress = (bytes: number): number => (bytes / gb) * prices.egressGb;

export {calls, prices};
