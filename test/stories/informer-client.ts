/** A client-go informer with writers beside it, as a process of its own: what it saw, and what of it was wrong. */
import {type ChildProcess, spawn} from 'node:child_process';
import {informer} from './programs.ts';

export interface Report {
  written: number;
  lost: number;
  adds: number;
  updates: number;
  deletes: number;
  wrong: string[] | null;
}

export interface InformerOptions {
  kubeconfig: string;
  namespace: string;
  /** Lists are streamed. */
  watchList: boolean;
  protobuf: boolean;
}

export interface InformerClient {
  synced: Promise<void>;
  /** Stops the writers and waits until everything has been heard. */
  report(): Promise<Report>;
  end(): void;
}

export function startInformer({kubeconfig, namespace, watchList, protobuf}: InformerOptions): InformerClient {
  const flags = ['-kubeconfig', kubeconfig, '-namespace', namespace, '-writers', '2', ...(protobuf ? ['-protobuf'] : [])];
  const child: ChildProcess = spawn(informer!, flags, {env: {...process.env, KUBE_FEATURE_WatchListClient: String(watchList)}});
  let out = '';
  let log = '';
  child.stderr!.on('data', (chunk) => {
    log += chunk;
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const synced = new Promise<void>((done, fail) => {
    child.stdout!.on('data', (chunk) => {
      out += chunk;
      if (out.includes('synced\n')) done();
    });
    void ended.then(() => fail(new Error(log)));
  });
  return {
    synced,
    async report() {
      child.stdin!.end('stop\n');
      await ended;
      const line = out.split('\n')[1];
      if (!line) throw new Error(`no report: ${log}`);
      return JSON.parse(line);
    },
    end: () => child.kill('SIGKILL'),
  };
}
