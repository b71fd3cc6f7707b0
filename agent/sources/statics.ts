/**
 * The sources beside the API, put together from the flags: files, an URL, and what was put here. Of pods with one name the first has it, in
 * this order; the others wait until it is gone.
 */
import type {Clock} from '../../shared/clock.ts';
import type {Settings} from '../cli/settings.ts';
import type {Log} from '../pods/context.ts';
import type {Pod} from '../pods/pod.ts';
import {FileSource} from './files.ts';
import {PutSource} from './put.ts';
import {UrlSource} from './url.ts';

export type StaticName = 'file' | 'http' | 'manifest';

export interface StaticSourcesOptions {
  settings: Settings;
  /** Of manifests that are put here; undefined: none can be. */
  folder: string | undefined;
  node: string;
  clock: Clock;
  log: Log;
  /** All of a source's pods, again after each change. */
  deliver(source: StaticName, pods: Pod[]): void;
}

const order: readonly StaticName[] = ['file', 'http', 'manifest'];
const keyOf = ({metadata}: Pod): string => `${metadata.namespace}/${metadata.name}`;

export class StaticSources {
  readonly #options: StaticSourcesOptions;
  readonly #file: FileSource | undefined;
  readonly #url: UrlSource | undefined;
  readonly put: PutSource | undefined;
  readonly names: readonly StaticName[];
  readonly #said = new Map<StaticName, Pod[]>();
  readonly #withheld = new Set<string>();
  readonly #problems: string[] = [];
  #resolveHeard!: () => void;
  /** Each source has spoken. */
  readonly heard: Promise<void>;

  constructor(options: StaticSourcesOptions) {
    this.#options = options;
    this.heard = new Promise((resolve) => {
      this.#resolveHeard = resolve;
    });
    const {settings, folder, node, clock} = options;
    const path = settings.text('pod-manifest-path');
    const url = settings.text('manifest-url');
    const log = this.#listening(options.log);
    const common = (source: StaticName) => ({node, clock, log, deliver: (pods: Pod[]) => this.#take(source, pods)});
    if (path) this.#file = new FileSource({...common('file'), path, everyMs: settings.duration('file-check-frequency') || defaultCheckMs});
    if (url) {
      const headers = settings.list('manifest-url-header');
      this.#url = new UrlSource({...common('http'), url, headers, everyMs: settings.duration('http-check-frequency') || defaultCheckMs});
    }
    if (folder !== undefined) this.put = new PutSource({...common('manifest'), folder, taken: (key) => this.#owner(key, 'manifest')});
    const has: Record<StaticName, unknown> = {file: this.#file, http: this.#url, manifest: this.put};
    this.names = order.filter((source) => has[source]);
    if (this.names.length === 0) this.#resolveHeard();
  }

  /** Of all sources, but those that wait for another. */
  get pods(): Pod[] {
    const names = new Set<string>();
    return order.flatMap((source) => (this.#said.get(source) ?? []).filter((pod) => this.#isFirst(pod, source, names)));
  }

  /** What could not be read so far. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  start(): this {
    this.#file?.start();
    this.#url?.start();
    void this.put?.start().catch((error: Error) => {
      this.#options.log.error('cannot read the manifests that were put here', error);
      this.#take('manifest', []);
    });
    return this;
  }

  stop(): void {
    this.#file?.stop();
    this.#url?.stop();
  }

  #take(source: StaticName, pods: Pod[]): void {
    this.#said.set(source, pods);
    const names = new Set<string>();
    for (const each of order) {
      const said = this.#said.get(each);
      if (said)
        this.#options.deliver(
          each,
          said.filter((pod) => this.#isFirst(pod, each, names)),
        );
    }
    if (this.names.every((each) => this.#said.has(each))) this.#resolveHeard();
  }

  #isFirst(pod: Pod, source: StaticName, names: Set<string>): boolean {
    const key = keyOf(pod);
    const id = `${source} ${pod.metadata.uid}`;
    if (!names.has(key)) {
      names.add(key);
      this.#withheld.delete(id);
      return true;
    }
    if (!this.#withheld.has(id)) {
      this.#withheld.add(id);
      this.#problem(`pod ${key} of source ${source} waits: another source or file has a pod of this name`);
      this.#options.log.warn(this.#problems.at(-1)!);
    }
    return false;
  }

  #owner(key: string, except: StaticName): string | undefined {
    return order.find((source) => source !== except && this.#said.get(source)?.some((pod) => keyOf(pod) === key));
  }

  /** Of the log only what tells of trouble is remembered. */
  #listening(log: Log): Log {
    return {
      ...log,
      error: (text, error) => {
        this.#problem(error instanceof Error ? `${text}: ${error.message}` : text);
        log.error(text, error);
      },
      warn: (text) => {
        this.#problem(text);
        log.warn(text);
      },
    };
  }

  #problem(text: string): void {
    this.#problems.push(text);
    if (this.#problems.length > maxProblems) this.#problems.shift();
  }
}

const defaultCheckMs = 20_000;
const maxProblems = 100;
