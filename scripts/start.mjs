/** `npm start`: builds what is older than its sources, then `clusterless up` in this same process. */
import {build, isFresh} from './build.mjs';

if (!isFresh()) await build();
process.argv.splice(2, 0, 'up');
await import('../dist/cli.js');
