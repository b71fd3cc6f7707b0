/** The informers' client of the stories, against whatever a kubeconfig names. */
import {spawn} from 'node:child_process';
import {informer} from '../stories/programs.ts';

export interface Report {
  written: number;
  lost: number;
  adds: number;
  updates: number;
  deletes: number;
  wrong: string[] | null;
}

export interface Informer {
  synced: Promise<void>;
  /** Stops its writers, waits until it has caught up. */
  report(): Promise<Report>;
  end(): void;
}

export function startInformer(kubeconfig: string, namespace: string, watchList: boolean): Informer {
  const child = spawn(informer!, ['-kubeconfig', kubeconfig, '-namespace', namespace, '-writers', '2'], {
    env: {...process.env, KUBE_FEATURE_WatchListClient: String(watchList)},
  });
  let out = '';
  let log = '';
  child.stderr.on('data', (piece) => {
    log += piece;
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const synced = new Promise<void>((done, fail) => {
    child.stdout.on('data', (piece) => {
      out += piece;
      if (out.includes('synced\n')) done();
    });
    void ended.then(() => fail(new Error(log)));
  });
  return {
    synced,
    async report() {
      child.stdin.end('stop\n');
      await ended;
      const line = out.split('\n')[1];
      if (!line) throw new Error(`no report: ${log}`);
      return JSON.parse(line) as Report;
    },
    end: () => child.kill('SIGKILL'),
  };
}
