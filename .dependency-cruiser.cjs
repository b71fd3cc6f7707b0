/** Imports point one way: an adapter to http, on through auth and admission to registry and storage; never back. */

/** What the rooms of shared/ use and that uses none of them: the words everybody speaks. */
const words =
  '^shared/(api|clock|errors|field-errors|limits|object)\\.ts$|^shared/(http/messages|auth/user|storage/contract|client/client|kinds/strategy|registry/resource)\\.ts$';
const tests = '\\.(test|bench)\\.ts$|/testing\\.ts$|/(suite|testing)/|contract-suite\\.ts$';

const room = (name) => `^shared/${name}/`;
const rooms = (...names) => `^shared/(${names.join('|')})/`;

const closed = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from: {path: from, pathNot: tests},
  to: {path: to, pathNot: words},
});

module.exports = {
  forbidden: [
    closed(
      'shared-knows-no-platform',
      '^shared/',
      '^(localstack|functions|infra|agent|test|scripts)/',
      'the machinery runs anywhere: adapters import it, not the reverse',
    ),
    closed('localstack-alone', '^localstack/', '^(functions|infra|agent|test|scripts)/', 'the local stack is one adapter among others'),
    closed('functions-alone', '^functions/', '^(localstack|infra|agent|test|scripts)/', 'the Lambda entries are one adapter among others'),
    closed(
      'agent-over-the-wire',
      '^agent/',
      '^(localstack|functions|infra)/|^shared/(http|auth|admission|registry|storage|changes|controllers)/',
      'the agent talks to the API as any client',
    ),
    closed(
      'storage-knows-bytes',
      room('storage'),
      rooms('http', 'auth', 'admission', 'registry', 'changes', 'controllers', 'kinds', 'schema', 'convert', 'apply', 'client'),
      'a store keeps images and revisions, not objects',
    ),
    closed(
      'tools-look-down',
      rooms('schema', 'convert', 'apply', 'selector'),
      rooms('http', 'auth', 'admission', 'registry', 'storage', 'changes', 'controllers'),
      'what the rooms above use knows none of them',
    ),
    closed(
      'kinds-look-down',
      room('kinds'),
      rooms('http', 'auth', 'registry', 'storage', 'changes', 'controllers'),
      'a kind says what is valid, not how it is served',
    ),
    closed(
      'registry-below-http',
      room('registry'),
      // Two questions about rights need the object: may the writer of a role grant it, may a PUT create what is not there. And a token must not be handed on.
      '^shared/(auth/(?!rbac/(escalation|rbac-index)|authorize|bearer)|controllers/)',
      'who asks has been settled before',
    ),
    closed(
      'changes-below-registry',
      room('changes'),
      rooms('auth', 'admission', 'registry', 'controllers'),
      'the feed does not know who listens',
    ),
    {
      name: 'no-cycles',
      comment: 'two files that need each other are one file, or miss a third',
      severity: 'error',
      from: {path: '^(shared|localstack|functions|agent|infra)/'},
      to: {circular: true, viaOnly: {dependencyTypesNot: ['type-only']}},
    },
    {
      name: 'no-undeclared-package',
      comment: 'what is imported at run time is a dependency',
      severity: 'error',
      from: {path: '^(shared|localstack|functions|agent)/', pathNot: tests},
      to: {dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only']},
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: {couldNotResolve: true},
    },
    {
      name: 'shared-light-to-load',
      comment:
        'a cold start pays for every module: Node’s file system and child processes stay out of the machinery, except under the embedded engine, in clients that are programs, and on the way to nodes, which is loaded with its first traveller',
      severity: 'error',
      from: {path: '^shared/', pathNot: `${tests}|^shared/storage/embedded/|^shared/schema/|^shared/client/node/|^shared/nodes/`},
      to: {path: '^(node:)?(fs|child_process|http|https|http2|net|tls)(/|$)'},
    },
  ],
  options: {
    doNotFollow: {path: 'node_modules'},
    tsPreCompilationDeps: true,
    tsConfig: {fileName: 'tsconfig.json'},
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};
