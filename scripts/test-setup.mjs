/**
 * `npm run test:setup`: makes what the fuller tests need in .cache/ (nothing outside of the repository): kubectl and helm, built from
 * the Go module proxy that this machine is set up for. What is there already is kept; what cannot be made is said, and its tests skip.
 */
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, renameSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, '.cache');
const bin = join(cache, 'bin');
/** For each program: a cold build of kubectl takes some minutes on two cores. */
const limitMs = 8 * 60_000;
const kubernetes = '1.36.3';
const staging = `v0.${kubernetes.slice(2)}`;

const kubectlMain = `package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
`;
const stamped = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
  .flatMap((path) => [`-X ${path}.gitVersion=v${kubernetes}`, `-X ${path}.gitMajor=1`, `-X ${path}.gitMinor=${kubernetes.split('.')[1]}`])
  .join(' ');

const programs = {
  kubectl: {
    modules: [`k8s.io/kubectl@${staging}`, `k8s.io/component-base@${staging}`, `k8s.io/client-go@${staging}`],
    main: kubectlMain,
    build: ['-ldflags', stamped, '.'],
  },
  helm: {
    modules: ['helm.sh/helm/v3@v3.19.5'],
    main: 'package main\n\nimport _ "helm.sh/helm/v3/pkg/cli"\n\nfunc main() {}\n',
    build: ['helm.sh/helm/v3/cmd/helm'],
  },
};

const seconds = (since) => `${Math.round((Date.now() - since) / 1000)} s`;

function make(name, {modules, main, build}) {
  const target = join(bin, name);
  if (existsSync(target)) return `${name}: there already`;
  const folder = join(cache, 'src', name);
  mkdirSync(folder, {recursive: true});
  mkdirSync(bin, {recursive: true});
  const startedAt = Date.now();
  const go = (...args) => {
    const left = limitMs - (Date.now() - startedAt);
    if (left <= 0) throw new Error('out of time');
    const {status, stderr, error} = spawnSync('go', args, {
      cwd: folder,
      env: {...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOWORK: 'off'},
      encoding: 'utf8',
      timeout: left,
      maxBuffer: 64 << 20,
    });
    if (error || status !== 0) throw new Error(error?.code === 'ETIMEDOUT' ? 'out of time' : stderr.trim().split('\n').at(-1));
  };
  try {
    writeFileSync(join(folder, 'go.mod'), `module setup/${name}\n\ngo 1.24\n`);
    writeFileSync(join(folder, 'main.go'), main);
    go('get', ...modules);
    go('mod', 'tidy');
    go('build', '-o', join(folder, name), ...build);
    renameSync(join(folder, name), target);
    return `${name}: built in ${seconds(startedAt)}`;
  } catch (error) {
    return `${name}: not made after ${seconds(startedAt)}: ${error.message}`;
  }
}

if (spawnSync('go', ['version'], {stdio: 'ignore'}).status !== 0) {
  process.stdout.write('no go on this machine: kubectl and helm are not made, and their tests use what the PATH has or skip\n');
} else {
  for (const [name, how] of Object.entries(programs)) process.stdout.write(`${make(name, how)}\n`);
}
