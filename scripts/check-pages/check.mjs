// The checks of scripts/check-pages.sh.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { hostileRun, largeRun } from "./runs.mjs";

const work = process.argv[2];
const { MASKWRIGHT, CHROMIUM, RUNS, DATA, SCREENSHOTS } = process.env;
const WIDTHS = [400, 1400];
// Processor time of the page's process until the first hundred failures are in the list, in milliseconds: other work beside does not count.
const OPENS_WITHIN = 1000;

const maskwright = (...words) => execFileSync(MASKWRIGHT, ["--quiet", ...words], { encoding: "utf8", maxBuffer: 1 << 28 });
const report = (runs, name, ...options) => {
  const page = join(work, `${name}.html`);
  maskwright("report", runs, "--html", page, "--data", DATA, ...options);
  return page;
};

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

async function opened(file, { width = 1400, colours = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: colours, offline: true });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => request.url().startsWith("file:") || problems.push(`request of ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  page.problems = problems;
  return page;
}

const visible = (page, selector) => page.locator(selector).evaluateAll((all) => all.filter((one) => one.checkVisibility()).length);

// The rows of the table with a caption, as texts by column.
const rowsOf = (page, caption) =>
  page.evaluate((caption) => {
    const table = [...document.querySelectorAll("main table")].find((one) => one.caption.textContent.startsWith(caption));
    const header = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row.cells[at].textContent])));
  }, caption);

// The labels of a picture, by the names of its bars.
const chartOf = (page, title) =>
  page.evaluate((title) => {
    const svg = [...document.querySelectorAll(".chart svg")].find((one) => one.getAttribute("aria-label").startsWith(title));
    const texts = [...svg.querySelectorAll("text")];
    const names = texts.filter((text) => text.getAttribute("text-anchor") === "end");
    const at = (text) => text.getAttribute("y");
    const labelOf = (name) => texts.find((text) => at(text) === at(name) && text.getAttribute("text-anchor") === "start");
    return Object.fromEntries(names.map((name) => [name.textContent, labelOf(name)?.textContent]));
  }, title);

async function checkContents(file) {
  const records = readFileSync(join(RUNS, "bench", "records.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const page = await opened(file);
  const framework = (record) => (record.framework === "none" ? "LM only" : record.framework);
  const counts = {};
  for (const record of records.filter((record) => !record.unusable)) {
    const count = (counts[framework(record)] ??= { valid: 0, all: 0 });
    count.all += 1;
    count.valid += record.verdict?.valid ? 1 : 0;
  }
  const percent = ({ valid, all }) => `${((100 * valid) / all).toFixed(1)} %`;
  const expected = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, percent(count)]));
  assert.deepEqual(await chartOf(page, "Empirical coverage"), expected, "the chart of coverage has the numbers of the records");
  assert.deepEqual(await chartOf(page, "Coverage:"), expected, "and so has the overview");
  for (const row of await rowsOf(page, "Models and frameworks")) {
    if (row.framework in expected) assert.equal(row["valid answers"], expected[row.framework]);
  }
  const medians = JSON.parse(maskwright("rerender", join(RUNS, "bench"), "--format", "json"));
  const times = await chartOf(page, "TPOT");
  for (const row of medians.rows) {
    const name = row.framework === "none" ? "LM only" : row.framework;
    assert.ok(Math.abs(Number(times[name]) - row.tpot_ms) <= 0.01 * row.tpot_ms, `TPOT of ${name}`);
  }
  await page.context().close();
}

async function checkInteraction(file, width) {
  const page = await opened(file, { width });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, `at ${width} pixels the page is ${overflow} pixels too wide`);
  const listed = () => page.locator("#failures-list tbody tr:not(.detail-row)");
  const count = async () => Number((await page.locator("#failures-count").textContent()).split(" ")[0]);
  const all = await count();
  assert.ok(all > 0, "the example has failures");
  // A filter leaves what is of the framework, in the list and in tables.
  await page.locator('select[name="framework"]').selectOption("LM only");
  const filtered = await count();
  assert.ok(filtered > 0 && filtered < all, `${filtered} of ${all} failures are of LM only`);
  assert.ok((await rowsOf(page, "Models and frameworks")).every((row) => row.framework === "LM only"));
  const keywords = await page.locator('select[name="keyword"] option').allTextContents();
  await page.locator('select[name="keyword"]').selectOption(keywords[1]);
  assert.ok((await count()) <= filtered);
  await page.locator("#filters button[type=reset]").click();
  assert.equal(await count(), all);
  // Search looks into answers, too.
  await page.locator('input[name="search"]').fill("no such text anywhere");
  await page.waitForFunction(() => document.getElementById("failures-count").textContent.startsWith("0 of"));
  await page.locator("#filters button[type=reset]").click();
  // A failure opens and closes by keyboard, and shows its schema.
  const button = listed().first().locator("button.open");
  await button.focus();
  await page.keyboard.press("Enter");
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  assert.equal(await page.locator(".detail-row").count(), 1);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".detail-row").count(), 0);
  // A click on a column sorts by number, a second one the other way round.
  const values = async () => (await rowsOf(page, "Efficiency")).map((row) => Number(row["TPOT (ms)"]));
  const head = page.locator("table", { hasText: "Efficiency" }).locator("thead button", { hasText: "TPOT (ms)" }).first();
  await head.click();
  const ascending = await values();
  assert.deepEqual(ascending, [...ascending].sort((one, other) => one - other));
  await head.click();
  assert.deepEqual(await values(), [...ascending].reverse());
  assert.deepEqual(page.problems, [], "nothing in the console");
  await page.context().close();
}

// Every picture and table has a name, ids are unique, and all that can be used by mouse can be reached by keyboard.
async function checkAccessible(file) {
  const page = await opened(file);
  const problems = await page.evaluate(() => {
    const found = [];
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    const repeated = ids.filter((id, at) => ids.indexOf(id) !== at);
    if (repeated.length) found.push(`ids that are there twice: ${repeated.slice(0, 5)}`);
    for (const svg of document.querySelectorAll("svg")) if (!svg.getAttribute("aria-label")) found.push("a picture without a name");
    for (const table of document.querySelectorAll("table")) if (!table.caption) found.push("a table without a caption");
    for (const head of document.querySelectorAll("thead th")) if (head.scope !== "col") found.push("a head without scope");
    for (const field of document.querySelectorAll("select, input")) if (!field.labels.length) found.push(`${field.name} without a label`);
    for (const box of document.querySelectorAll(".scroll")) {
      if (box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0 && !box.querySelector("button")) found.push("a box that scrolls by mouse only");
    }
    const levels = [...document.querySelectorAll("h1, h2, h3")].map((one) => Number(one.tagName[1]));
    if (levels.some((level, at) => at > 0 && level > levels[at - 1] + 1)) found.push("a level of headings is left out");
    return found;
  });
  assert.deepEqual(problems, []);
  await page.context().close();
}

async function checkHostile() {
  const runs = join(work, "hostile");
  hostileRun(runs);
  const file = report(runs, "hostile-page");
  const source = readFileSync(file, "utf8");
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(source), "no control characters of writing direction");
  const page = await opened(file);
  await page.locator("#failures-list button.open").first().click();
  assert.equal(await page.evaluate(() => window.hacked), undefined, "no text of a record has run");
  assert.equal(await page.locator("main img, main iframe").count(), 0);
  assert.ok((await page.locator(".detail").textContent()).includes("</script>"), "the answer is shown as it is");
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

async function checkLarge() {
  const runs = join(work, "large");
  largeRun(runs, 10000, ["maskwright", "llguidance", "xgrammar", "outlines-core", "llamacpp", "none"]);
  const file = report(runs, "large-page", "--explain", "0");
  const times = [];
  for (let turn = 0; turn < 3; turn++) {
    const page = await opened(file);
    await page.locator("#failures-list button.open").first().waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    times.push(1000 * metrics.find((metric) => metric.name === "ProcessTime").value);
    assert.match(await page.locator("#failures-count").textContent(), /^60000 of 60000 failures/);
    await page.context().close();
  }
  const best = Math.min(...times);
  console.log(`60,000 failures: ${(readFileSync(file).length / 1e6).toFixed(1)} MB, open in ${best.toFixed(0)} ms of processor time`);
  if (best >= OPENS_WITHIN) console.warn(`warning: the page takes ${best.toFixed(0)} ms of processor time to open, more than ${OPENS_WITHIN}`);
}

async function checkSite() {
  const out = join(work, "site");
  maskwright("site", RUNS, "--out", out, "--data", DATA);
  const page = await opened(join(out, "index.html"));
  await page.locator(".models a").first().click();
  await page.locator("#failures-count").waitFor();
  await page.locator("header a", { hasText: "All models" }).click();
  await page.locator(".models").waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

async function screenshots(file) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  for (const [name, width, colours] of [
    ["light", 1400, "light"],
    ["dark", 1400, "dark"],
    ["narrow", 400, "light"],
  ]) {
    const page = await opened(file, { width, colours });
    await page.locator("#failures-list button.open").first().click();
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-top.png`) });
    if (name === "light") writeFileSync(join(SCREENSHOTS, "print.pdf"), await page.pdf({ format: "A4", landscape: true }));
    await page.context().close();
  }
}

try {
  const file = report(RUNS, "example");
  await checkContents(file);
  for (const width of WIDTHS) await checkInteraction(file, width);
  await checkAccessible(file);
  await checkHostile();
  await checkSite();
  await checkLarge();
  if (SCREENSHOTS) await screenshots(file);
  console.log("the pages are as they should be");
} finally {
  await browser.close();
}
