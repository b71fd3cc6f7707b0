/** What --help prints: every flag in its group, with its type and default. */
import {type Flag, flags} from './flags.ts';
import {unbuilt} from './unbuilt.ts';

const width = 110;

export function help(): string {
  const sections = [...new Set(flags.map(({section}) => section))];
  const parts = sections.map((section) => {
    const rows = flags.filter((flag) => flag.section === section).map(row);
    return `${section[0]!.toUpperCase()}${section.slice(1)}:\n\n${rows.join('\n')}\n`;
  });
  return `nodeagent runs the pods of a node: those of the API server (--clusterconfig), of files (--pod-manifest-path) and of an URL (--manifest-url).\n\nUsage:\n  nodeagent [flags]\n  nodeagent check|install|uninstall|cleanup [flags]\n\n${parts.join('\n')}\n(D) deprecated: better set in the file of --config.  (-) has no effect in this version when set to anything but its default.\n`;
}

function row(flag: Flag): string {
  const {name, shorthand, type, aliasOf, values, deprecated, stage} = flag;
  const head = `  ${shorthand ? `-${shorthand}, ` : '    '}--${name}${type === 'bool' ? '' : ` ${type.startsWith('version') ? 'version[=true]' : type}`}`;
  const notes = [
    ...(deprecated ? ['(D)'] : []),
    ...(unbuilt.has(name) ? ['(-)'] : []),
    ...(stage ? [stage.toUpperCase()] : []),
    ...(aliasOf ? [`same as --${aliasOf}`] : []),
    ...(values ? [values.join(' | ')] : []),
    ...(flag.range ? [`${flag.range[0]} to ${flag.range[1]}`] : []),
    ...(flag.zeroMeans !== undefined ? [`0: ${flag.zeroMeans}`] : []),
    ...(flag.negativeMeans !== undefined ? [`negative: ${flag.negativeMeans}`] : []),
    ...(shows(flag.default) ? [`(default ${Array.isArray(flag.default) ? flag.default.join(',') : flag.default})`] : []),
  ].join(' ');
  const line = `${head.padEnd(52)} ${notes}`.trimEnd();
  return line.length <= width || head.length < 52 ? line : `${head}\n${' '.repeat(53)}${notes}`;
}

const shows = (value: unknown): boolean => value !== null && value !== undefined && value !== '' && value !== false;
