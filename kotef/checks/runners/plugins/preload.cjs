// Results of node:test, mocha, jest, vitest and ava, written test by test.
//
// Node loads it before the program, by NODE_OPTIONS. It does nothing but wait, except in a process that is one of these
// runners. Syntax of Node 12: the project chooses the version. Deno loads it too, and lets it read no environment.
'use strict';

const variables = typeof Deno === 'undefined' ? process.env : {};
const folder = variables.KOTEF_REPORTS;
const nested = variables.KOTEF_REPORTS_NESTED;

function write(runner, tests) {
  const fs = require('fs');
  const path = require('path').join(folder, `${runner}-${process.pid}-${Date.now()}.json`);
  try {
    fs.writeFileSync(`${path}.part`, JSON.stringify({ runner, tests }));
    fs.renameSync(`${path}.part`, path);
  } catch (error) {
    // Without a report the output of the runner is read.
  }
}

// node --test: started once more, with a reporter of ours beside the one that was asked for.
function nodeTest() {
  const flags = process.execArgv;
  const known = process.allowedNodeEnvironmentFlags;
  if (!flags.includes('--test') || flags.some((flag) => /^--watch/.test(flag))) return;
  if (!known || !known.has('--test-reporter') || process.env.NODE_TEST_CONTEXT) return;
  const reporter = require('path').join(__dirname, 'reporter.mjs');
  const own = flags.some((flag) => /^--test-reporter(=|$)/.test(flag));
  const where = flags.some((flag) => /^--test-reporter-destination(=|$)/.test(flag));
  const usual = Number(process.versions.node.split('.')[0]) < 23 && !process.stdout.isTTY ? 'tap' : 'spec';
  const more = own ? [] : [`--test-reporter=${usual}`];
  if (!where) more.push('--test-reporter-destination=stdout');
  more.push(`--test-reporter=${reporter}`, '--test-reporter-destination=stderr');
  const env = Object.assign({}, process.env, { KOTEF_REPORTS_NESTED: 'node' });
  const words = [...flags, ...more, ...process.argv.slice(1)];
  const done = require('child_process').spawnSync(process.execPath, words, { stdio: 'inherit', env });
  if (done.signal) process.kill(process.pid, done.signal);
  process.exit(done.status === null ? 1 : done.status);
}

function mocha() {
  const path = require('path');
  let script = process.argv[1] || '';
  try {
    script = require('fs').realpathSync(script);
    if (!/[\\/]mocha[\\/]bin[\\/]_?mocha(?:\.[cm]?js)?$/.test(script)) return;
    if (parseInt(require(path.join(path.dirname(script), '..', 'package.json')).version, 10) < 8) return;
  } catch (error) {
    return;
  }
  process.argv.splice(2, 0, '--require', path.join(__dirname, 'mocha_hooks.cjs'));
  process.env.KOTEF_REPORTS_NESTED = 'mocha';
}

// ava's own process: its tests run in others, which it hears of by messages.
function ava() {
  const words = process.argv.slice(2);
  let script = process.argv[1] || '';
  try {
    script = require('fs').realpathSync(script);
  } catch (error) {
    return;
  }
  if (!/[\\/]ava[\\/](?:entrypoints[\\/])?cli\.m?js$/.test(script)) return;
  if (words.some((word) => /^(?:--watch|-w|--help|--version|debug|reset-cache)$/.test(word))) return;
  process.env.KOTEF_REPORTS_NESTED = 'ava';
  require('./ava_messages.cjs').watch(write);
}

const JEST = { passed: 'passed', failed: 'failed', pending: 'skipped', skipped: 'skipped', todo: 'skipped', disabled: 'skipped' };

function jestTests(results) {
  const tests = [];
  for (const file of results.testResults) {
    const path = file.testFilePath || file.name;
    const inside = file.testResults || file.assertionResults || [];
    for (const test of inside) {
      tests.push([path, '', [...(test.ancestorTitles || []), test.title], JEST[test.status] || 'skipped']);
    }
    if (file.testExecError || (file.failureMessage && !inside.length)) tests.push([path, '', [], 'error']);
  }
  return tests;
}

function jest(exported) {
  const runCLI = exported.runCLI;
  if (typeof runCLI !== 'function') return exported;
  const watched = async (...given) => {
    process.env.KOTEF_REPORTS_NESTED = 'jest';
    const done = await runCLI(...given);
    if (done && done.results && done.results.testResults) write('jest', jestTests(done.results));
    return done;
  };
  return new Proxy(exported, {
    get: (target, name) => (name === 'runCLI' ? watched : target[name]),
  });
}

function vitest() {
  const script = process.argv[1] || '';
  const words = process.argv.slice(2);
  if (!/[\\/](?:vitest[\\/]vitest\.mjs|\.bin[\\/]vitest)$/.test(script)) return;
  if (words.some((word) => /^--?(?:w|watch|help|h|version|v|outputFile)(?:=|$)/.test(word))) return;
  if (['list', 'bench', 'related', 'init', 'typecheck', 'dev', 'watch'].includes(words[0])) return;
  const own = words.some((word) => /^--reporters?(?:=|$)/.test(word));
  const end = words.indexOf('--');
  const more = [...(own ? [] : ['--reporter=default']), '--reporter=json'];
  more.push(`--outputFile.json=${require('path').join(folder, `vitest-${process.pid}.json`)}`);
  process.argv.splice(end < 0 ? process.argv.length : end + 2, 0, ...more);
  process.env.KOTEF_REPORTS_NESTED = 'vitest';
}

function watchModules() {
  const Module = require('module');
  const load = Module._load;
  const proxies = new Map();
  Module._load = function kotefLoad(request, parent, isMain) {
    const exported = load.call(this, request, parent, isMain);
    if (typeof request !== 'string') return exported;
    if (request !== '@jest/core') return exported;
    if (!proxies.has(exported)) proxies.set(exported, jest(exported));
    return proxies.get(exported);
  };
}

if (folder && !nested && require('worker_threads').isMainThread) {
  nodeTest();
  vitest();
  mocha();
  ava();
  watchModules();
}
