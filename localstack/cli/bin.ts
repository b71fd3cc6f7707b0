#!/usr/bin/env node
/** The executable. Loads nothing before Node keeps compiled code between starts, where it can (22.1 and newer). */
import * as nodeModule from 'node:module';
import {setFlagsFromString} from 'node:v8';

// V8 otherwise lets garbage grow to several times what lives before it looks at it: a third of the memory of a small cluster.
setFlagsFromString('--optimize-for-size');

(nodeModule as {enableCompileCache?: () => unknown}).enableCompileCache?.();
const {main} = await import('./main.ts');
await main(process.argv);
