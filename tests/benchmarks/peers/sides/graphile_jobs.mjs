// No-op jobs of graphile-worker. See queues.py for the arguments and the answers.
//
// The local queue of 500 and the batches of completions are those of its page "Performance".

import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { Logger, makeWorkerUtils, run } = require("graphile-worker");

const [verb, ...rest] = process.argv.slice(2);
const numbers = rest.map(Number);
const wanted = numbers[0];
const starts = [];
const quiet = new Logger(() => () => {});
const now = () => Number(process.hrtime.bigint());

const taskList = {
  noop() {
    starts.push(now());
    if (starts.length === wanted) console.log(JSON.stringify(starts));
  },
};

async function work() {
  console.log(now());
  const runner = await run({
    preset: {
      worker: {
        concurrentJobs: numbers[1],
        maxPoolSize: numbers[1] + 2,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger: quiet,
      },
    },
    taskList,
  });
  await runner.promise;
}

async function install(utils) {
  await utils.migrate();
  console.log("graphile-worker", require("graphile-worker/package.json").version);
}

async function many(utils) {
  const began = now();
  for (let first = 0; first < wanted; first += numbers[1]) {
    const length = Math.min(numbers[1], wanted - first);
    const jobs = Array.from({ length }, (_, n) => ({
      identifier: "noop",
      payload: { n: first + n },
    }));
    await utils.addJobs(jobs);
  }
  console.log((now() - began) / 1e9);
}

async function single(utils) {
  const calls = [];
  for (let n = 0; n < wanted; n++) {
    const pause = (0.5 + Math.random()) * 1000 * numbers[1];
    if (pause) await new Promise((done) => setTimeout(done, pause));
    const began = now();
    await utils.addJob("noop", { n });
    calls.push([began, now()]);
  }
  console.log(JSON.stringify(calls));
}

if (verb === "work") {
  await work();
} else {
  const utils = await makeWorkerUtils({ preset: { worker: { logger: quiet } } });
  await { install, many, single }[verb](utils);
  await utils.release();
}
