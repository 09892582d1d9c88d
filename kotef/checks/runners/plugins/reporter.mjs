// A reporter of node:test that prints nothing and writes what became of each test, in one piece at the end.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function status(data, failed) {
  if (data.skip !== undefined && data.skip !== false) return 'skipped';
  if (data.todo !== undefined && data.todo !== false) return failed ? 'xfailed' : 'xpassed';
  return failed ? 'failed' : 'passed';
}

export default async function* report(source) {
  const tests = [];
  const open = new Map();
  for await (const { type, data } of source) {
    if (!['test:start', 'test:pass', 'test:fail'].includes(type)) continue;
    const file = data.file || '';
    const path = (open.get(file) || []).slice(0, data.nesting);
    path.push(data.name);
    if (type === 'test:start') {
      open.set(file, path);
      continue;
    }
    const failed = type === 'test:fail';
    if (data.name === file) {
      if (failed) tests.push([file, '', [], 'error']);
    } else if (!(data.details && data.details.type === 'suite')) {
      tests.push([file, '', path, status(data, failed)]);
    } else if (failed && data.details.error && data.details.error.failureType !== 'subtestsFailed') {
      tests.push([file, '', path, 'error']);
    }
  }
  const place = join(process.env.KOTEF_REPORTS, `node-${process.pid}-${Date.now()}.json`);
  try {
    writeFileSync(`${place}.part`, JSON.stringify({ runner: 'node:test', tests }));
    renameSync(`${place}.part`, place);
  } catch {
    // Without a report the output of the runner is read.
  }
  yield '';
}
