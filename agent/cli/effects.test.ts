/** No flag is silently ignored: what is not read by name in some room of the agent is said to have no effect. */
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';
import {flags} from './flags.ts';
import {unbuilt} from './unbuilt.ts';

const agent = dirname(dirname(fileURLToPath(import.meta.url)));
/** To say what is wrong with a value, or where it stands in a file, is no effect. */
const talk = new Set(
  ['validate.ts', 'config-file.ts', 'flags.ts', 'unbuilt.ts', 'help.ts', 'settings.ts'].map((name) => join(agent, 'cli', name)),
);
/** They are refused when they are set to anything at all. */
const refused = new Set(['dynamic-config-dir']);

const read = new Set(
  readdirSync(agent, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.test\.ts$|^testing\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !talk.has(file))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/\b(?:settings|values)\s*\.(?:text|number|duration|bool|list|map|get)\(\s*'([a-z-]+)'/g),
    ])
    .map(([, name]) => name!),
);

describe('every flag', () => {
  const own = flags.filter(({aliasOf}) => !aliasOf).map(({name}) => name);

  test('is read somewhere by its name, or said to have no effect', () => {
    expect(own.filter((name) => !read.has(name) && !unbuilt.has(name) && !refused.has(name))).toEqual([]);
  });

  test('is not said to have no effect where it is read', () => {
    expect(own.filter((name) => read.has(name) && unbuilt.has(name))).toEqual([]);
  });

  test('that is read is in the table, and an alias stands for one that is', () => {
    expect([...read].filter((name) => !own.includes(name))).toEqual([]);
    expect(flags.filter(({aliasOf}) => aliasOf && !own.includes(aliasOf))).toEqual([]);
  });
});
