import {createSecureContext} from 'node:tls';
import {describe, expect, test} from 'vitest';
import {cipherList, insecureSuites} from './cipher-suites.ts';
import {flags, parseArguments} from './flags.ts';
import {help} from './help.ts';
import {ownFlags} from './own-flags.ts';
import {Settings} from './settings.ts';
import {unbuilt, unbuiltLines} from './unbuilt.ts';
import {problemsOf} from './validate.ts';

const settingsOf = (...argv: string[]): Settings => {
  const {values, errors} = parseArguments(argv);
  expect(errors).toEqual([]);
  return new Settings(values);
};
const problems = (...argv: string[]): string => problemsOf(settingsOf(...argv)).join('\n');

describe('the table', () => {
  test('has 157 flags, all in the help, and all that are unbuilt are in it', () => {
    expect(flags.length - ownFlags.length).toBe(157);
    const text = help();
    for (const {name} of flags) expect(text).toContain(`--${name}`);
    const names = new Set(flags.map(({name}) => name));
    expect([...unbuilt].filter((name) => !names.has(name))).toEqual([]);
  });

  test('every default can be read, and is valid', () => {
    expect(problemsOf(new Settings(new Map()))).toEqual([]);
  });
});

describe('spelling', () => {
  test('values stand behind an equals sign or in the next word; a bool needs none; underscores are dashes', () => {
    const settings = settingsOf(
      '--port=1234',
      '--hostname-override',
      'n',
      '--register_node=false',
      '--runonce',
      '--enable-server=false',
      '-v=4',
    );
    expect([
      settings.number('port'),
      settings.text('hostname-override'),
      settings.bool('register-node'),
      settings.bool('runonce'),
      settings.number('v'),
    ]).toEqual([1234, 'n', false, true, 4]);
  });

  test('lists and maps add up, durations and maps are typed', () => {
    const settings = settingsOf(
      '--cluster-dns=1.1.1.1,2.2.2.2',
      '--cluster-dns=3.3.3.3',
      '--node-labels=a=b,c=d',
      '--sync-frequency=1m30s',
      '--eviction-hard=memory.available<5%',
    );
    expect(settings.list('cluster-dns')).toEqual(['1.1.1.1', '2.2.2.2', '3.3.3.3']);
    expect(Object.fromEntries(settings.map('node-labels'))).toEqual({a: 'b', c: 'd'});
    expect(settings.duration('sync-frequency')).toBe(90_000);
    expect(Object.fromEntries(settings.map('eviction-hard'))).toEqual({'memory.available': '5%'});
  });

  test('an alias sets what it stands for, and says so', () => {
    const {values, warnings} = parseArguments(['--experimental-bootstrap-clusterconfig=x']);
    expect(values.get('bootstrap-clusterconfig')).toBe('x');
    expect(warnings).toEqual(['Flag --experimental-bootstrap-clusterconfig has been deprecated, Use --bootstrap-clusterconfig']);
  });

  test.each([
    ['--nope', 'unknown flag: --nope'],
    ['foo', 'unknown command: foo'],
    ['--register-node=maybe', 'invalid argument "maybe" for "--register-node" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
    ['--port=x', 'invalid argument "x" for "--port" flag: strconv.ParseInt: parsing "x": invalid syntax'],
    ['--sync-frequency=5', 'invalid argument "5" for "--sync-frequency" flag: time: invalid duration "5"'],
    ['--feature-gates=Nope', 'invalid argument "Nope" for "--feature-gates" flag: malformed pair, expect string=bool'],
    ['--port', 'flag needs an argument: --port'],
  ])('%s is refused', (argument, words) => {
    expect(parseArguments([argument]).errors).toEqual([words]);
  });
});

describe('sense', () => {
  test('everything that is wrong is said at once', () => {
    expect(problemsOf(settingsOf('--port=0', '--oom-score-adj=2000', '--hairpin-mode=foo'))).toHaveLength(3);
  });

  test.each([
    ['--image-gc-low-threshold=90', 'imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than'],
    ['--cluster-reserved=foo=1', 'cannot reserve "foo" resource'],
    ['--system-reserved=cpu=x', 'quantities must match'],
    ['--register-with-taints=a=b:Nope', 'invalid taint effect: Nope, unsupported taint effect'],
    ['--eviction-hard=nope<1', 'unsupported eviction signal nope'],
    ['--eviction-soft=memory.available<1Gi', 'grace period must be specified for the soft eviction threshold memory.available'],
    ['--node-labels=kubernetes.io/foo=x', "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [kubernetes.io/foo]"],
    ['--exit-on-lock-contention', 'cannot exit on lock file contention: no lock file specified'],
    ['--container-log-max-files=1', '--container-log-max-files 1, must be > 1'],
    ['--tls-min-version=VersionTLS09', 'VersionTLS09'],
    ['--tls-cipher-suites=FOO', "Cipher suite FOO not supported or doesn't exist"],
    ['--max-open-files=-1', '--max-open-files -1 must not be a negative number'],
    ['--feature-gates=Nope=true', 'unrecognized feature gate: Nope'],
  ])('%s', (argument, words) => {
    expect(problems(argument)).toContain(words);
  });

  test('cipher suites are named as everywhere, and those of TLS 1.3 are always there', () => {
    const list = cipherList(['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256']);
    expect(list?.split(':').slice(3)).toEqual(['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305']);
    expect(list).toContain('TLS_AES_128_GCM_SHA256');
    expect(() => createSecureContext({ciphers: list})).not.toThrow();
    expect(cipherList([])).toBeUndefined();
    expect(insecureSuites(['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'])).toEqual([
      'TLS_RSA_WITH_AES_128_CBC_SHA',
    ]);
  });

  test('what has no effect is said only when it is set to something else', () => {
    expect(
      unbuiltLines(settingsOf('--vmodule=a=1', '--hairpin-mode=promiscuous-bridge', '--cluster-api-content-type=application/json')),
    ).toEqual(['--vmodule is set, but has no effect in this version']);
  });
});
