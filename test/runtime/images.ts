/** The images that tests run, made of one static busybox: an OCI archive for the runtime to import, since no registry is asked. */
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {type Entry, tar} from './tar.ts';

/** Nothing answers there: what was not imported cannot be pulled. */
const registry = '127.0.0.1:9';

export const images = {
  pause: `${registry}/pause:1`,
  /** A shell and all applets. */
  busybox: `${registry}/busybox:1`,
  /** HTTP on $PORT (8080): `/` says `hello from web`, `/healthz` says `ok`; ends on TERM. */
  web: `${registry}/web:1`,
} as const;

interface ImageConfig {
  Env?: string[];
  Entrypoint?: string[];
  Cmd?: string[];
}

const script = (path: string, text: string): Entry => ({path, mode: 0o755, body: Buffer.from(`#!/bin/sh\n${text}\n`)});
const environment = {Env: ['PATH=/bin']};

export function imageArchive(busybox: string): Buffer {
  const applets = execFileSync(busybox, ['--list'], {encoding: 'utf8'}).split('\n');
  const base = tar([
    ...['bin/', 'etc/', 'root/', 'www/'].map((path) => ({path})),
    {path: 'tmp/', mode: 0o1777},
    {path: 'bin/busybox', mode: 0o755, body: readFileSync(busybox)},
    ...applets.filter((name) => name && name !== 'busybox').map((name) => ({path: `bin/${name}`, link: 'busybox'})),
    {path: 'etc/passwd', body: Buffer.from('root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n')},
    {path: 'etc/group', body: Buffer.from('root:x:0:\nnobody:x:65534:\n')},
    // Whatever it is sent, init reaps; and it is ended by KILL alone, which is what a sandbox is ended by.
    script('bin/pause', 'trap "" TERM INT; while true; do sleep 1000 & wait; done'),
    script('bin/serve', 'trap "exit 0" TERM; httpd -f -p ${PORT:-8080} -h /www & wait'),
    {path: 'www/index.html', body: Buffer.from('hello from web\n')},
    {path: 'www/healthz', body: Buffer.from('ok\n')},
  ]);
  return archiveOf(base, {
    [images.pause]: {...environment, Entrypoint: ['/bin/pause']},
    [images.busybox]: {...environment, Cmd: ['/bin/sh']},
    [images.web]: {...environment, Entrypoint: ['/bin/serve']},
  });
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const architectures: Partial<Record<NodeJS.Architecture, string>> = {x64: 'amd64'};
const kinds = 'application/vnd.oci.image';

/** An OCI layout with one layer that all images share. */
function archiveOf(layer: Buffer, configs: Readonly<Record<string, ImageConfig>>): Buffer {
  const blobs = new Map<string, Buffer>();
  const add = (mediaType: string, bytes: Buffer) => {
    const digest = digestOf(bytes);
    blobs.set(digest, bytes);
    return {mediaType, digest: `sha256:${digest}`, size: bytes.length};
  };
  const json = (value: object) => Buffer.from(JSON.stringify(value));
  const layers = [add(`${kinds}.layer.v1.tar`, layer)];
  const manifests = Object.entries(configs).map(([name, config]) => {
    const described = {
      architecture: architectures[process.arch] ?? process.arch,
      os: 'linux',
      config,
      rootfs: {type: 'layers', diff_ids: layers.map(({digest}) => digest)},
      history: [],
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: `${kinds}.manifest.v1+json`,
      config: add(`${kinds}.config.v1+json`, json(described)),
      layers,
    };
    return {...add(manifest.mediaType, json(manifest)), annotations: {'io.containerd.image.name': name}};
  });
  return tar([
    {path: 'oci-layout', body: json({imageLayoutVersion: '1.0.0'})},
    {path: 'index.json', body: json({schemaVersion: 2, manifests})},
    {path: 'blobs/'},
    {path: 'blobs/sha256/'},
    ...[...blobs].map(([digest, body]) => ({path: `blobs/sha256/${digest}`, body})),
  ]);
}
