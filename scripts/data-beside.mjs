/** Code names its data as `new URL('./data/x.json', import.meta.url)`; bundled, it no longer stands where it stood. */
import {readFileSync} from 'node:fs';
import {dirname, join, relative, sep} from 'node:path';

/**
 * All that is bundled stands in one folder, entries and chunks alike, and its data below it, by its path from the root. `found` hears of
 * each folder of data that is named, `also` changes such a file once more.
 */
export const dataBeside = (root, found = () => {}, also = (text) => text) => ({
  name: 'data-beside',
  setup(pluginBuild) {
    pluginBuild.onLoad({filter: /\.ts$/}, ({path}) => {
      if (path.includes(`${sep}node_modules${sep}`)) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const contents = text.replace(/new URL\((['"`])(\.{1,2}\/[^'"`$]*)/g, (_, quote, target) => {
        const fromRoot = relative(root, join(dirname(path), target))
          .split(sep)
          .join('/');
        found(target.endsWith('/') ? fromRoot : dirname(fromRoot));
        return `new URL(${quote}./${fromRoot}${target.endsWith('/') ? '/' : ''}`;
      });
      return {contents: also(contents), loader: 'ts'};
    });
  },
});
