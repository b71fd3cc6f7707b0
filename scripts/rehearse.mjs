/** `npm run rehearse`: builds what is older than its sources, then `clusterless rehearse` in this same process. */
import {build, isFresh} from './build.mjs';

if (!isFresh()) await build();
process.argv.splice(2, 0, 'rehearse');
await import('../dist/cli.js');
