// Root hooks of mocha that write what became of each test; given to it by `--require`.
'use strict';

const tried = new Map();
let root = null;
let ended = false;
const isWorker = /[\\/]worker\.js$/.test(process.argv[1] || ''); // of --parallel: it may end before it has written

function fileOf(suite, test) {
  return (test && test.file) || suite.file || (suite.parent ? fileOf(suite.parent) : '');
}

function statusOf(test) {
  const state = tried.get(test.titlePath().join('\u0000')) || test.state;
  if (state) return state;
  return test.isPending() ? 'skipped' : '';
}

function collect(suite, tests) {
  const names = suite.titlePath().filter((title) => title);
  const hooks = [].concat(suite._beforeAll, suite._beforeEach, suite._afterEach, suite._afterAll);
  const inside = suite.tests[0] || (suite.suites[0] && suite.suites[0].tests[0]);
  if (hooks.some((hook) => hook && hook.state === 'failed')) tests.push([fileOf(suite, inside), '', names, 'error']);
  for (const test of suite.tests) {
    const status = statusOf(test);
    if (status) tests.push([fileOf(suite, test), '', test.titlePath(), status === 'pending' ? 'skipped' : status]);
  }
  for (const below of suite.suites) collect(below, tests);
  return tests;
}

process.on('exit', () => {
  if (!ended || isWorker || !process.env.KOTEF_REPORTS) return;
  const { renameSync, writeFileSync } = require('fs');
  const path = require('path').join(process.env.KOTEF_REPORTS, `mocha-${process.pid}.json`);
  try {
    writeFileSync(`${path}.part`, JSON.stringify({ runner: 'mocha', tests: collect(root, []) }));
    renameSync(`${path}.part`, path);
  } catch (error) {
    // Without a report the output of the runner is read.
  }
});

exports.mochaHooks = {
  beforeAll() {
    root = this.test.parent;
  },
  afterEach() {
    const test = this.currentTest;
    if (test && test.state) tried.set(test.titlePath().join('\u0000'), test.state);
  },
  afterAll() {
    ended = root !== null;
  },
};
