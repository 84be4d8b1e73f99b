// Checks definitions in Amazon States Language and evaluates expressions of JSONata, for the tests beside this file.
// Reads a JSON document from each line of standard input and answers with a line: {"definitions": {name: definition}}
// with {name: [what is wrong]}, and {"evaluations": [{expression, states, variables}]} with [{value} or {error}].
const aslValidator = require("asl-validator");
const { createHash, randomUUID } = require("node:crypto");
const { createInterface } = require("node:readline");
const jsonata = require("jsonata");

// What Step Functions adds to JSONata 2.0.6; $eval it takes away.
const ADDED = {
  parse: (text) => JSON.parse(text),
  uuid: () => randomUUID(),
  hash: (text, algorithm) => createHash(algorithm.replace("-", "").toLowerCase()).update(text).digest("hex"),
  random: () => Math.random(),
  range: (from, to, step) => Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => from + n * step),
  partition: (list, size) =>
    Array.from({ length: Math.ceil(list.length / size) }, (_, n) => list.slice(n * size, (n + 1) * size)),
};
const BUILT_IN = new Set(
  (
    "sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad " +
    "match contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round " +
    "abs sqrt power boolean not map zip filter single reduce foldLeft sift keys lookup append exists spread merge " +
    "reverse each error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl " +
    "decodeUrlComponent decodeUrl toMillis fromMillis now millis clone"
  ).split(" "),
);

function* texts(value) {
  if (typeof value === "string") yield value;
  else if (value && typeof value === "object") for (const part of Object.values(value)) yield* texts(part);
}

const expressionOf = (text) => /^\{%([\s\S]*)%\}$/.exec(text)?.[1];

/** Yield every name that an expression takes from outside of itself. */
function* free(node, bound) {
  if (!node || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const part of node) yield* free(part, bound);
    return;
  }
  let inner = bound;
  if (node.type === "lambda") inner = new Set([...bound, ...node.arguments.map((one) => one.value)]);
  if (node.type === "block") {
    const own = node.expressions.filter((one) => one.type === "bind").map((one) => one.lhs.value);
    inner = new Set([...bound, ...own]);
  }
  if (node.type === "variable" && node.value && !inner.has(node.value)) yield node.value;
  for (const [name, part] of Object.entries(node)) {
    if (name === "lhs" && node.type === "bind") continue;
    if (node.type === "lambda" && name === "arguments") continue;
    if (name !== "value" || typeof part === "object") yield* free(part, inner);
  }
}

function assigned(definition) {
  const found = new Set(["states"]);
  const walk = (value) => {
    if (!value || typeof value !== "object") return;
    for (const name of Object.keys(value.Assign ?? {})) found.add(name);
    for (const part of Object.values(value)) walk(part);
  };
  walk(definition);
  return found;
}

function wrong(definition) {
  const found = [];
  const variables = assigned(definition);
  for (const text of texts(definition)) {
    const expression = expressionOf(text);
    if (expression === undefined) {
      if (text.includes("{%") || text.includes("%}")) found.push(`half an expression: ${text}`);
      continue;
    }
    try {
      for (const name of new Set(free(jsonata(expression).ast(), new Set()))) {
        if (!variables.has(name) && !BUILT_IN.has(name) && !(name in ADDED)) {
          found.push(`$${name} is neither assigned nor a function of Step Functions: ${expression}`);
        }
      }
    } catch (error) {
      found.push(`${error.message}: ${expression}`);
    }
  }
  if (found.length) return found;
  // The validator takes long, and writes into what it is given.
  const { isValid, errorsText } = aslValidator(structuredClone(definition));
  return isValid ? [] : [errorsText("\n")];
}

async function evaluated({ expression, states, variables }) {
  try {
    const compiled = jsonata(expressionOf(expression));
    for (const [name, act] of Object.entries(ADDED)) compiled.registerFunction(name, act);
    return { value: await compiled.evaluate(undefined, { states, ...variables }) };
  } catch (error) {
    return { error: error.message };
  }
}

async function main(asked) {
  if (asked.definitions) {
    return Object.fromEntries(Object.entries(asked.definitions).map(([name, one]) => [name, wrong(one)]));
  }
  return Promise.all(asked.evaluations.map(evaluated));
}

createInterface({ input: process.stdin }).on("line", async (line) =>
  process.stdout.write(`${JSON.stringify(await main(JSON.parse(line)))}\n`),
);
