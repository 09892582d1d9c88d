// Results of ava, from the messages of its test processes and threads; loaded into the process that started them.
'use strict';

const tests = new Map();
const broken = new Set();
const unfinished = new Set(); // files whose run ends early on purpose
let ended = false;

const FILE_FAILED = ['uncaught-exception', 'unhandled-rejection', 'internal-error', 'missing-ava-import', 'process-exit'];

function key(file, title) {
  return `${file}\u0000${title}`;
}

function hear(file, message) {
  const event = message && message.ava;
  if (!file || !event) return;
  const set = (status) => tests.set(key(file, event.title), status);
  if (event.type === 'selected-test') set(event.skip || event.todo ? 'skipped' : 'pending');
  else if (event.type === 'test-passed') set(event.knownFailing ? 'xfailed' : 'passed');
  else if (event.type === 'test-failed') set('failed');
  else if (event.type === 'hook-failed') set('error');
  else if (FILE_FAILED.includes(event.type)) broken.add(file);
}

function left(file, code) {
  const own = [...tests.keys()].some((name) => name.startsWith(key(file, '')));
  if (code && !own) broken.add(file);
}

function note(options, worker) {
  if (!options || !options.file) return;
  worker.kotefFile = String(options.file).replace(/^file:\/\//, '');
  if (options.failFast) unfinished.add(worker.kotefFile);
}

function listen(Process) {
  const emit = Process.prototype.emit;
  Process.prototype.emit = function kotefEmit(name, ...given) {
    if (name === 'message') {
      const asked = given[0] && given[0].ava && given[0].ava.type;
      if (asked === 'ready-for-options' && this.send && !this.kotefFile) watchSend(this);
      hear(this.kotefFile, given[0]);
    } else if (name === 'exit' && this.kotefFile) left(this.kotefFile, given[0]);
    return emit.call(this, name, ...given);
  };
}

function watchSend(child) {
  const send = child.send;
  child.send = function kotefSend(message, ...others) {
    if (message && message.ava && message.ava.type === 'options') note(message.ava.options, child);
    return send.call(child, message, ...others);
  };
}

function watchThreads() {
  const threads = require('worker_threads');
  const Worker = threads.Worker;
  threads.Worker = class extends Worker {
    constructor(script, options) {
      super(script, options);
      note(options && options.workerData && options.workerData.options, this);
    }
  };
  listen(Worker);
}

function collected() {
  const found = [...broken].map((file) => [file, '', [], 'error']);
  for (const [name, status] of tests) {
    const [file, title] = name.split('\u0000');
    if (status !== 'pending') found.push([file, '', [title], status]);
    else if (!unfinished.has(file)) found.push([file, '', [title], 'error']);
  }
  return found;
}

exports.watch = (write) => {
  listen(require('child_process').ChildProcess);
  watchThreads();
  const sync = require('module').syncBuiltinESMExports;
  if (sync) sync();
  process.on('exit', () => {
    const found = collected();
    if (!ended && found.length) write('ava', found);
    ended = true;
  });
};
