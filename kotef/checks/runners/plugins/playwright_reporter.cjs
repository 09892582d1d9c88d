// A reporter of Playwright Test that prints nothing and writes what became of each test, in one piece at the end.
'use strict';

const { renameSync, writeFileSync } = require('fs');
const { join } = require('path');

function status(test) {
  const outcome = test.outcome();
  if (outcome === 'skipped') return test.results.length || test.expectedStatus === 'skipped' ? 'skipped' : '';
  if (outcome === 'unexpected') return 'failed';
  return test.expectedStatus === 'failed' ? 'xfailed' : 'passed';
}

class Report {
  constructor() {
    this.suite = null;
    this.errors = [];
  }

  printsToStdio() {
    return false;
  }

  onBegin(...given) {
    this.suite = given[given.length - 1]; // older versions hand the configuration over first
  }

  onError(error) {
    if (error && error.location) this.errors.push([error.location.file, '', [], 'error']);
  }

  onEnd(result) {
    if (!process.env.KOTEF_REPORTS || !this.suite || (result && result.status === 'interrupted')) return;
    const several = this.suite.suites.length > 1;
    const tests = [...this.errors];
    for (const test of this.suite.allTests()) {
      const [, project, , ...names] = test.titlePath();
      const found = status(test);
      if (found) tests.push([test.location.file, '', several ? [project, ...names] : names, found]);
    }
    const path = join(process.env.KOTEF_REPORTS, `playwright-${process.pid}-${Date.now()}.json`);
    try {
      writeFileSync(`${path}.part`, JSON.stringify({ runner: 'playwright', tests }));
      renameSync(`${path}.part`, path);
    } catch (error) {
      // Without a report the output of the runner is read.
    }
  }
}

module.exports = Report;
