// Runs that are made up, for pages that no small run shows.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MODEL = "made-up";

function write(directory, frameworks, instances, records) {
  mkdirSync(directory, { recursive: true });
  const manifest = {
    run_of: "bench",
    command: ["maskwright", "bench"],
    started: "2026-01-01T00:00:00Z",
    program: { version: "0", commit: "0" },
    hardware: { cpu: "a processor", cpus: 1, memory_mib: 1024, os: "a system" },
    settings: {
      models: [{ name: MODEL }],
      frameworks: frameworks.map((name) => ({ name, version: "1", options: "" })),
      servers: [],
      datasets: [{ name: "made-up schemas", instances, sha256: "0" }],
      sampling: { seed: 0 },
    },
  };
  writeFileSync(join(directory, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(join(directory, "records.jsonl"), records.map((record) => JSON.stringify(record) + "\n").join(""));
}

function record(framework, instance, text, message, keyword) {
  const verdict = { parsed: true, valid: false, fenced: false, problems: [{ kind: "invalid", instance: "", keyword, message }] };
  return {
    model: MODEL,
    framework,
    dataset: "made-up schemas",
    instance,
    ...(framework === "none" ? {} : { compile: { seconds: 0.01 } }),
    generation: {
      prompt_tokens: 10, output_tokens: 20, forced_tokens: 0, forward_passes: 20, finish: "end_of_sequence",
      ttft_s: 0.01, tpot_ms: 1 + (instance.length % 7) / 10, tgt_s: 0.1, masks: 20, mask_us: 5, token_times_us: [], text,
    },
    verdict,
    paper_verdict: verdict,
  };
}

/** A run whose texts try to become a part of the page. */
export function hostileRun(directory) {
  const texts = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "\u202e{\"turned\": true}\u202c <!-- <script>window.hacked = 3</script>",
    "'\"><svg onload=window.hacked=4>",
    "{{script}}{{data}}</style><iframe src=https://example.com>",
  ];
  const names = ["none", "<b onmouseover=window.hacked=5>framework</b>"];
  const records = names.flatMap((name) => texts.map((text, at) => record(name, `${text} ${at}`, text, text, `/properties/${text}`)));
  write(directory, names, texts.length, records);
}

/** A run of many schemas with a failure each for every framework. */
export function largeRun(directory, schemas, frameworks) {
  const keywords = ["type", "enum", "pattern", "required", "additionalProperties", "oneOf"];
  const records = [];
  for (let number = 0; number < schemas; number++) {
    for (const [place, framework] of frameworks.entries()) {
      const keyword = keywords[(number + place) % keywords.length];
      const text = JSON.stringify({ name: `answer ${number}`, items: Array.from({ length: 12 }, (_, at) => ({ at, number, place })) });
      records.push(record(framework, `schema-${number}`, text, `"answer ${number}" is not what ${keyword} says`, `/properties/name/${keyword}`));
    }
  }
  write(directory, frameworks, schemas, records);
}
