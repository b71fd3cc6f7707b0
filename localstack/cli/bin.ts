#!/usr/bin/env node
/** The executable. Loads nothing before Node keeps compiled code between starts, where it can (22.1 and newer). */
import * as nodeModule from 'node:module';
import {startSmall} from './idle-memory.ts';

startSmall();
(nodeModule as {enableCompileCache?: () => unknown}).enableCompileCache?.();
const {main} = await import('./main.ts');
await main(process.argv);
