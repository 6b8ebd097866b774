// Searches the built site as its pages do: by the search worker of the theme, over the index.
// node search_site.js WORKER INDEX, with an array of queries on standard input; it answers with the
// pages that each finds, best first.
const { readFileSync } = require("node:fs");

let hear;
const heard = [];
globalThis.self = globalThis;
globalThis.addEventListener = (_, listener) => { hear = listener; };
globalThis.postMessage = (message) => heard.push(message);
(0, eval)(readFileSync(process.argv[2], "utf8"));

const SETUP = 0;
const QUERY = 2;

async function ask(type, data) {
  heard.length = 0;
  await hear({ data: { type, data } });
  while (!heard.length) await new Promise(setImmediate);
  return heard[0].data;
}

async function main() {
  const index = JSON.parse(readFileSync(process.argv[3], "utf8"));
  await ask(SETUP, { ...index, options: { suggest: false } });
  const answers = {};
  for (const query of JSON.parse(readFileSync(0, "utf8"))) {
    const { items } = await ask(QUERY, query);
    answers[query] = items.map(([first]) => first.location.split("#")[0]);
  }
  console.log(JSON.stringify(answers));
}

main();
