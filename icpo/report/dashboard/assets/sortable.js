"use strict";

/**
 * A table that sorts by any column and filters by words.
 *
 * A cell is a text, or {t: text, s: small text below, v: number to sort by, c: class, h: address}. Sorting puts
 * empty cells last; a second click turns the order round. The filter keeps the rows that hold all of its words.
 */
icpo.sortable = function sortable({ id, columns, rows, hidden, words, searchable }) {
  const { h } = icpo;
  let sorted = null;
  let descending = false;
  const off = new Set(hidden);
  const text = (cell) => (typeof cell === "string" ? cell : cell.t);
  const content = rows.map((row) => ({ row, text: row.map(text).join(" ").toLowerCase() }));
  const head = h("tr");
  const body = h("tbody");
  const shown = h("span", { class: "faint", id: `${id}-shown` });
  const search = h("input", {
    type: "search",
    placeholder: "filter, e.g. l4 base",
    "aria-label": "filter rows",
    oninput: () => draw(),
  });

  function sort(i) {
    descending = sorted === i ? !descending : !columns[i].text;
    sorted = i;
    draw();
  }

  function compare({ row: x }, { row: y }) {
    const [a, b] = [x[sorted], y[sorted]];
    if (!text(a) || !text(b)) return !text(a) - !text(b);
    const numbers = a.v !== undefined && b.v !== undefined;
    const order = numbers ? a.v - b.v : text(a).localeCompare(text(b), "en", { numeric: true });
    return descending ? -order : order;
  }

  function td(cell, { text: isText }) {
    const label = cell.h ? h("a", { href: cell.h }, text(cell)) : text(cell);
    const wraps = isText && text(cell).length > 40 ? " wrap" : "";
    const small = cell.s ? h("small", {}, cell.s) : null;
    return h("td", { class: [isText ? `text${wraps}` : "", cell.c ?? ""].join(" ").trim() || null }, label, small);
  }

  function draw() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = content.filter((entry) => wanted.every((word) => entry.text.includes(word)));
    if (sorted !== null) kept.sort(compare);
    const seen = columns.map((column, i) => ({ ...column, i })).filter((column) => !off.has(column.name));
    head.replaceChildren(
      ...seen.map(({ name, text: isText, i }) =>
        h(
          "th",
          {
            class: isText ? "text" : null,
            scope: "col",
            "aria-sort": sorted === i ? (descending ? "descending" : "ascending") : null,
          },
          h("button", { type: "button", onclick: () => sort(i) }, name),
        ),
      ),
    );
    table.className = seen.length > 9 ? "dense" : "";
    body.replaceChildren(...kept.map(({ row }) => h("tr", {}, ...seen.map((column) => td(row[column.i], column)))));
    shown.textContent = `${kept.length} of ${rows.length}`;
  }

  function filterBy(word) {
    search.value = search.value === word ? "" : word;
    draw();
  }

  const table = h("table", { id }, h("thead", {}, head), body);
  draw();
  const more = icpo.select("add a column", [["", "…"], ...[...off].map((name) => [name, name])], "", (name) => {
    off.delete(name);
    draw();
  });
  const buttons = words.map((word) => h("button", { type: "button", onclick: () => filterBy(word) }, word));
  const controls = h("div", { class: "controls" }, ...buttons, search, shown, off.size ? more : null);
  return h("div", {}, searchable ? controls : null, h("div", { class: "scroll" }, table));
};
