"use strict";
// Sorts and filters the tables of a page and lists its failures. Texts of records are put in as text only, never as HTML.
(() => {
  const PAGE = 100; // Failures that are shown at a time.
  const FILTERS = ["model", "framework", "dataset", "keyword"];
  const ALL = "";

  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const embedded = (id) => {
    const element = document.getElementById(id);
    return element ? JSON.parse(element.textContent) : null;
  };

  // Tables.
  const tables = [...document.querySelectorAll("main table")].map((table) => ({
    table,
    header: [...table.tHead.rows[0].cells].map((cell) => cell.textContent),
    rows: [...table.tBodies[0].rows],
  }));

  // The number that a cell begins with, or the first in it: "OU 87 %*" is 87, "0.50 [0.40, 0.60]" is 0.5.
  const numberIn = (text) => {
    const found = text.match(/-?\d+(\.\d+)?(e-?\d+)?/);
    return found ? Number(found[0]) : NaN;
  };
  const compared = (one, other) => {
    const [a, b] = [numberIn(one), numberIn(other)];
    if (Number.isNaN(a) && Number.isNaN(b)) return one.localeCompare(other);
    if (Number.isNaN(a)) return 1;
    if (Number.isNaN(b)) return -1;
    return a - b || one.localeCompare(other);
  };
  const namesCompared = (one, other) => one.localeCompare(other, undefined, { numeric: true });

  function makeSortable({ table, rows }) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", head.textContent, { type: "button" });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const isName = rows.some((row) => row.cells[column].matches("th, .name"));
        const by = isName ? namesCompared : compared;
        const text = (row) => row.cells[column].textContent;
        const sorted = [...rows].sort((one, other) => by(text(one), text(other)) * (descending ? -1 : 1));
        table.tBodies[0].append(...sorted);
      });
    });
  }

  // Failures.
  const data = embedded("failures-data");
  const columns = data ? data.columns : [];
  const value = (row, column) => data.strings[row[column]];
  let details = null; // Read when the first failure is opened.
  let shown = [];
  let search = "";
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, ALL]));

  function fits(row) {
    for (const name of FILTERS) {
      if (chosen[name] !== ALL && value(row, columns.indexOf(name)) !== chosen[name]) return false;
    }
    if (search === "") return true;
    return columns.some((_, column) => value(row, column).toLowerCase().includes(search)) || textsHave(row);
  }

  function detailsOf(row) {
    if (row[columns.length] < 0) return null;
    details ??= embedded("failures-details");
    const [schema, before, after, explanation, byte] = details.details[row[columns.length]];
    const text = (number) => (number < 0 ? null : details.texts[number]);
    return { schema: text(schema), before: text(before), after: text(after), explanation: text(explanation), byte };
  }

  function textsHave(row) {
    const detail = detailsOf(row);
    if (!detail) return false;
    return [detail.schema, detail.before, detail.after, detail.explanation].some((text) => text && text.toLowerCase().includes(search));
  }

  function block(title, content) {
    const part = make("div");
    const pre = make("pre");
    pre.append(...content);
    part.append(make("h3", title), pre);
    return part;
  }

  function marked(detail) {
    if (detail.after === null) return [detail.before];
    const [first, ...rest] = [...detail.after];
    const mark = make("mark", first ?? "(end)", { "aria-label": `byte ${detail.byte}: ${first ?? "end"}` });
    return [detail.before, mark, rest.join("")];
  }

  // JSON with a line for each member: its text stays as it is but for white space, with every digit and repeated key. A text that has line
  // ends already, or is not JSON, stays as it is.
  function pretty(json) {
    if (json.includes("\n")) return json;
    try {
      JSON.parse(json);
    } catch {
      return json;
    }
    const tokens = json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|"/g) ?? [];
    const deepest = 40;
    let depth = 0;
    let text = "";
    const line = () => "\n" + "  ".repeat(Math.min(depth, deepest));
    tokens.forEach((token, at) => {
      const before = tokens[at - 1];
      if (token === "}" || token === "]") {
        depth = Math.max(0, depth - 1);
        text += before === "{" || before === "[" ? token : line() + token;
        return;
      }
      if (before === "{" || before === "[" || before === ",") text += line();
      else if (before === ":") text += " ";
      text += token;
      if (token === "{" || token === "[") depth += 1;
    });
    return text;
  }

  function detailRow(row) {
    const line = make("tr", undefined, { class: "detail-row" });
    const cell = make("td", undefined, { colspan: String(columns.length) });
    const box = make("div", undefined, { class: "detail" });
    const detail = detailsOf(row);
    if (!detail) {
      box.append(make("p", "There is no more to read: neither its schema nor its text is in this page."));
    } else {
      if (detail.explanation) box.append(block("Why", [detail.explanation]));
      if (detail.before !== null) {
        box.append(block(detail.byte >= 0 ? `Answer or document; marked: byte ${detail.byte}` : "Answer or document", marked(detail)));
      }
      if (detail.schema !== null) box.append(block("Schema", [pretty(detail.schema)]));
    }
    cell.append(box);
    line.append(cell);
    return line;
  }

  function failureRow(row) {
    const line = make("tr");
    columns.forEach((name, column) => {
      const text = value(row, column);
      const cell = make("td", name === "name" ? undefined : text, text === "" ? {} : { "data-label": name });
      if (name === "name") {
        const button = make("button", text || "(no name)", { type: "button", class: "open", "aria-expanded": "false" });
        button.addEventListener("click", () => {
          const open = button.getAttribute("aria-expanded") === "true";
          button.setAttribute("aria-expanded", String(!open));
          if (open) line.nextSibling.remove();
          else line.after(detailRow(row));
        });
        cell.append(button);
      }
      line.append(cell);
    });
    return line;
  }

  const list = document.getElementById("failures-list");
  const count = make("output", "", { id: "failures-count", "aria-live": "polite" });
  const more = make("button", "", { type: "button", class: "more" });
  let body = null;
  let order = null; // Column and direction.

  function listFailures() {
    shown = data.rows.filter(fits);
    if (order) {
      const text = (row) => value(row, order.column);
      shown.sort((one, other) => namesCompared(text(one), text(other)) * order.direction);
    }
    body.replaceChildren();
    showMore();
  }

  function showMore() {
    const from = body.querySelectorAll("tr:not(.detail-row)").length;
    body.append(...shown.slice(from, from + PAGE).map(failureRow));
    const to = Math.min(from + PAGE, shown.length);
    count.textContent = `${shown.length} of ${data.rows.length} failures; ${to} listed`;
    more.hidden = to >= shown.length;
    more.textContent = `Show ${Math.min(PAGE, shown.length - to)} more`;
  }

  function makeFailures() {
    const table = make("table", undefined, { class: "failures" });
    table.append(make("caption", "Failures; each name opens its schema, its text and the explanation"));
    const head = table.createTHead().insertRow();
    columns.forEach((name, column) => {
      const cell = make("th", undefined, { scope: "col" });
      const button = make("button", name, { type: "button" });
      button.addEventListener("click", () => {
        const descending = order && order.column === column && order.direction > 0;
        order = { column, direction: descending ? -1 : 1 };
        [...head.cells].forEach((other) => other.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
        listFailures();
      });
      cell.append(button);
      head.append(cell);
    });
    body = table.createTBody();
    more.addEventListener("click", showMore);
    const box = make("div", undefined, { class: "scroll" });
    box.append(table);
    list.replaceChildren(count, box, more);
  }

  // Filters.
  const cellsOf = (name) => {
    const found = new Set();
    for (const { header, rows } of tables) {
      const column = header.indexOf(name);
      if (column >= 0) rows.forEach((row) => found.add(row.cells[column].textContent));
    }
    if (data) {
      const column = columns.indexOf(name);
      data.rows.forEach((row) => found.add(value(row, column)));
    }
    found.delete("");
    return [...found].sort(namesCompared);
  };

  function filterTables() {
    for (const { header, rows } of tables) {
      const active = FILTERS.filter((name) => chosen[name] !== ALL && header.includes(name));
      rows.forEach((row) => {
        row.hidden = active.some((name) => row.cells[header.indexOf(name)].textContent !== chosen[name]);
      });
    }
  }

  function makeFilters() {
    const form = document.getElementById("filters");
    const apply = () => {
      filterTables();
      if (body) listFailures();
    };
    const status = make("button", "Show all", { type: "reset" });
    for (const name of FILTERS) {
      const values = cellsOf(name);
      if (values.length < 2) continue;
      const select = make("select", undefined, { name });
      select.append(make("option", "all", { value: ALL }), ...values.map((text) => make("option", text, { value: text })));
      select.addEventListener("change", () => {
        chosen[name] = select.value;
        apply();
      });
      const label = make("label", name);
      label.append(select);
      form.append(label);
    }
    if (body) {
      const input = make("input", undefined, { type: "search", name: "search", placeholder: "name, reason, text …" });
      let waiting = 0;
      input.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => {
          search = input.value.trim().toLowerCase();
          listFailures();
        }, 150);
      });
      const label = make("label", "search in failures");
      label.append(input);
      form.append(label);
    }
    form.append(status);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      FILTERS.forEach((name) => (chosen[name] = ALL));
      search = "";
      apply();
    });
    form.hidden = form.elements.length < 2;
  }

  tables.forEach(makeSortable);
  if (data && list) makeFailures();
  makeFilters();
  if (body) listFailures();
})();
