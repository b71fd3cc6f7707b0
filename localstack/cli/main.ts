/** The command line: what there is, what it takes. What a command does is in a file of its own, loaded when it is asked for. */
import {Command, CommanderError, Option} from 'commander';
import {kubernetesVersion, version} from '../version.ts';
import {explain, Refusal} from './fail.ts';
import type {UpFlags} from './up.ts';
import {
  append,
  cidrs,
  collect,
  duration,
  emulatedVersion,
  featureGates,
  httpUrl,
  issuer,
  listenAddress,
  nodeName,
  portRange,
  positiveDuration,
  previousMinor,
  runtimeConfig,
  serverNames,
  tablePrefix,
  verbosity,
} from './values.ts';

const dataOption = (): Option =>
  new Option('--data <folder>', 'folder of the store, certificates and kubeconfig').default('.clusterless').env('CLUSTERLESS_DATA');
const kubeconfigOption = (): Option =>
  new Option('--kubeconfig <file>', 'talk to the cluster of this kubeconfig instead (any Kubernetes server)');
const contextOption = (): Option => new Option('--context <name>', 'context in the kubeconfig (default: its current one)');

export function program(): Command {
  const cli = new Command('clusterless')
    .exitOverride()
    .description('A Kubernetes-compatible cluster control plane in one process')
    .version(version, '--version')
    .showHelpAfterError('(add --help for what there is)')
    .configureHelp({sortSubcommands: false, showGlobalOptions: false});

  cli
    .command('up')
    .description('run a cluster in the foreground; when it is ready, one line on stdout says so')
    .addOption(dataOption())
    .addOption(
      new Option('--listen <address:port>', 'where to serve; port 0 takes a free one').default('127.0.0.1:6443').argParser(listenAddress),
    )
    .option('--in-memory', 'keep nothing: the content is gone when the process ends')
    .addOption(
      new Option('--store <engine>', 'where objects live: in the data folder, or in DynamoDB, which several servers may share')
        .choices(['embedded', 'dynamo'])
        .default('embedded'),
    )
    .addOption(new Option('--dynamo-endpoint <url>', "DynamoDB Local's address; its tables are made (default: AWS)").argParser(httpUrl))
    .addOption(new Option('--table-prefix <prefix>', 'what names of tables begin with (default: "clusterless-")').argParser(tablePrefix))
    .option('--region <name>', 'AWS region of the tables (default: as the environment says)')
    .option('--kubeconfig <file>', 'where to write the kubeconfig of the admin (default: DATA/kubeconfig)')
    .option('--token-auth-file <csv>', 'static bearer tokens: token,user,uid,"group1,group2"')
    .addOption(new Option('--service-cluster-ip-range <cidr>', 'addresses of Services').default('10.0.0.0/24').argParser(cidrs))
    .addOption(new Option('--service-node-port-range <range>', 'node ports of Services').default('30000-32767').argParser(portRange))
    .addOption(new Option('--service-account-issuer <url>', 'the issuer of service-account tokens').argParser(issuer))
    .addOption(
      new Option('--livez-grace-period <duration>', 'how long livez may wait for the start to finish').default(0, '0s').argParser(duration),
    )
    .addOption(
      new Option('--shutdown-delay-duration <duration>', 'how long to keep serving after SIGTERM while readyz fails')
        .default(0, '0s')
        .argParser(duration),
    )
    .addOption(
      new Option('--watch-history <duration>', 'how long watches and exact lists can go back')
        .default(3_600_000, '1h')
        .argParser(positiveDuration),
    )
    .addOption(
      new Option('--continue-token-ttl <duration>', 'how long a list can be continued').default(300_000, '5m').argParser(positiveDuration),
    )
    .addOption(
      new Option('--feature-gates <key=bool,...>', 'accepted for compatibility; no gate can be changed yet').argParser(featureGates),
    )
    .addOption(new Option('--runtime-config <api=bool,...>', 'which APIs are served; only the defaults yet').argParser(runtimeConfig))
    .addOption(new Option('--emulated-version <major.minor>', 'the release to behave as; only 1.36 yet').argParser(emulatedVersion))
    .addOption(
      new Option('--show-hidden-metrics-for-version <major.minor>', 'show metrics that the previous release hid').argParser(previousMinor),
    )
    .option('--tls-cert-file <pem>', 'serving certificate (with its chain) of your own')
    .option('--tls-private-key-file <pem>', 'its key')
    .addOption(
      new Option('--tls-san <name>', 'another name or address for the serving certificate; may be repeated')
        .default([], 'none')
        .argParser(serverNames),
    )
    .addOption(
      new Option('--binder <mode>', 'give waiting pods a ready node while no scheduler does (auto), or never (off)')
        .choices(['auto', 'off'])
        .default('auto'),
    )
    .addOption(
      new Option('--node [name]', "also run a node here, on the container runtime of this machine (default name: the machine's)").argParser(
        nodeName,
      ),
    )
    .option('--node-runtime <socket>', "the runtime's socket (default: containerd's or CRI-O's usual one)")
    .option('--node-cni', 'write a network for pods to /etc/cni/net.d where the runtime has none')
    .option('--keep-pods', 'let pods run on when this ends')
    .addOption(new Option('--node-flag <flag>', 'one more flag for nodeagent; may be repeated').default([], 'none').argParser(append))
    .addOption(new Option('-v, --v <level>', 'verbosity of the log').default(0).argParser(verbosity))
    .addOption(new Option('--logging-format <format>', 'of the log on stderr').default('text').choices(['text', 'json']))
    .action(async (flags: UpFlags) => {
      const [{up}, {startCluster}] = await Promise.all([import('./up.ts'), import('../library.ts')]);
      await up(flags, startCluster);
    });

  cli
    .command('reset')
    .description('remove the content, certificates and kubeconfig of a data folder')
    .addOption(dataOption())
    .option('--yes', 'do not ask')
    .action(async (flags) => (await import('./reset.ts')).reset(flags));

  cli
    .command('version')
    .description('say what this is, and which Kubernetes release it behaves as')
    .addOption(new Option('-o, --output <format>', 'text or json').default('text').choices(['text', 'json']))
    .action((flags: {output: string}) => {
      const facts = {version, kubernetesVersion, node: process.version};
      process.stdout.write(
        flags.output === 'json'
          ? `${JSON.stringify(facts)}\n`
          : `clusterless ${version} (Kubernetes ${kubernetesVersion}, Node ${process.version})\n`,
      );
    });

  cli
    .command('kubeconfig')
    .description("print the admin's kubeconfig, or merge it into your own")
    .addOption(dataOption())
    .option('--stack <name>', 'of a cluster on AWS, by its CloudFormation stack: users are who their AWS credentials say')
    .option('--region <name>', 'AWS region of the stack (default: as the environment says)')
    .option('--merge', 'add it to your own kubeconfig (KUBECONFIG, or ~/.kube/config), other entries and a backup kept')
    .option('--name <name>', 'name of cluster, user and context there (default: "clusterless", or the name of the stack)')
    .option('--no-current', 'leave the current context as it is')
    .action(async (flags) => (await import('./kubeconfig.ts')).kubeconfig(flags));

  cli
    .command('token')
    .description('sign who you are with your AWS credentials, for a cluster on AWS: what kubectl runs (exec credential plugin)')
    .requiredOption('--cluster <name>', 'the cluster that it is for, and no other')
    .option('--region <name>', 'AWS region whose STS will be asked (default: as the environment says)')
    .action(async (flags) => (await import('./token.ts')).token(flags));

  cli
    .command('proxy')
    .description('serve the plain API on localhost; watches of unmodified programs share one connection to the server')
    .addOption(dataOption())
    .addOption(
      new Option(
        '--kubeconfig <file>',
        "the server and who you are there (default: the data folder's server if one runs, else as kubectl)",
      ),
    )
    .addOption(contextOption())
    .addOption(
      new Option('--listen <address:port>', 'where to serve; port 0 takes a free one').default('127.0.0.1:8001').argParser(listenAddress),
    )
    .action(async (flags) => (await import('./proxy.ts')).proxy(flags));

  cli
    .command('status')
    .description('say whether a server runs over the data folder, and how it is')
    .addOption(dataOption())
    .addOption(new Option('-o, --output <format>', 'text or json').default('text').choices(['text', 'json']))
    .action(async (flags) => (await import('./status.ts')).status(flags));

  cli
    .command('doctor')
    .description('check this machine and the data folder, with advice')
    .addOption(dataOption())
    .addOption(new Option('--listen <address:port>', 'the address to check').default('127.0.0.1:6443').argParser(listenAddress))
    .action(async (flags) => (await import('./doctor.ts')).doctor(flags));

  cli
    .command('export')
    .description('write all objects of a cluster to stdout, one after another')
    .addOption(dataOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(new Option('-o, --output <format>', 'JSON lines or YAML documents').default('json').choices(['json', 'yaml']))
    .option('-n, --namespace <name>', 'only this namespace, and no cluster-scoped objects')
    .addOption(new Option('--include <resource>', 'resources to add to the default: events, leases').default([], 'none').argParser(collect))
    .addOption(new Option('--exclude <resource>', 'resources to leave out').default([], 'none').argParser(collect))
    .option('--strip', 'leave out what belongs to one cluster only: uid, resourceVersion, creationTimestamp, managedFields')
    .action(async (flags) => (await import('./export.ts')).exportObjects(flags));

  cli
    .command('import')
    .description('create the objects of an export (or any manifests) in a cluster')
    .argument('[file]', 'JSON lines, JSON or YAML documents; - for stdin', '-')
    .addOption(dataOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .option('--replace', 'replace objects that exist (they are left alone otherwise)')
    .option('--no-status', 'do not restore the status of objects')
    .action(async (file: string, flags) => (await import('./import.ts')).importObjects(file, flags));

  cli
    .command('rehearse')
    .description('deploy the CDK app of this checkout into an emulator and serve it under the real Lambda runtime, until SIGTERM')
    .option('--token-auth-file <csv>', 'static bearer tokens: token,user,uid,"group1,group2" (default: one administrator)')
    .option('--data <folder>', 'for logs, kubeconfig and recorded AWS calls (default: a temporary one, removed at the end)')
    .addOption(new Option('--port <port>', 'where to serve the API').default(0, 'a free one').argParser(Number))
    .addOption(new Option('--chaos <seed>', 'kill execution environments at random').argParser(Number))
    .addOption(new Option('-c, --context <key=value>', 'of the CDK app; may be repeated').default([], 'none').argParser(collect))
    .option('--app <command>', 'another CDK app, or a synthesized assembly')
    .option('--verbose', 'each step of the deployment')
    .action(async (flags) => (await import('./rehearse.ts')).rehearse(flags));

  cli
    .command('completion')
    .description('print a completion script for a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => {
      process.stdout.write((await import('./completion.ts')).completion(shell, cli));
    });

  return cli;
}

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    // Commander has said its piece already.
    if (error instanceof CommanderError) process.exit(error.exitCode);
    const line = explain(error);
    if (line === undefined) throw error;
    process.stderr.write(`clusterless: ${line}\n`);
    process.exit(error instanceof Refusal ? error.exitCode : 1);
  }
}
