"use strict";

/**
 * A table that sorts by any column and filters by words.
 *
 * Columns are {name, value(row) -> number | string | null, show(row) -> td?, text: bool}. Sorting puts nulls last;
 * a second click turns the order round. The filter keeps the rows that hold all of its words in any column.
 */
icpo.sortable = function sortable(columns, rows, { id, filter = true } = {}) {
  const { h } = icpo;
  let sorted = null;
  let descending = false;
  const body = h("tbody");
  const shown = h("span", { class: "faint", id: id ? `${id}-shown` : null });
  const words = h("input", {
    type: "search",
    placeholder: "filter, e.g. nano l4 me_icpo",
    "aria-label": "filter rows",
    oninput: draw,
  });
  const heads = columns.map((column, i) =>
    h(
      "th",
      { class: column.text ? "text" : null, scope: "col" },
      h("button", { type: "button", onclick: () => sort(i) }, column.name),
    ),
  );
  const content = rows.map((row) => ({
    row,
    text: columns
      .map((c) => c.value(row) ?? "")
      .join(" ")
      .toLowerCase(),
    element: null,
  }));

  function sort(i) {
    descending = sorted === i ? !descending : !columns[i].text;
    sorted = i;
    heads.forEach((head, j) =>
      j === i
        ? head.setAttribute("aria-sort", descending ? "descending" : "ascending")
        : head.removeAttribute("aria-sort"),
    );
    draw();
  }

  function compare(a, b) {
    const [x, y] = [columns[sorted].value(a.row) ?? null, columns[sorted].value(b.row) ?? null];
    if (x === null || y === null) return (x === null) - (y === null);
    const order =
      typeof x === "number" && typeof y === "number"
        ? x - y
        : String(x).localeCompare(String(y), "en", { numeric: true });
    return descending ? -order : order;
  }

  function element(entry) {
    entry.element ??= h(
      "tr",
      {},
      ...columns.map((column) => {
        if (column.show) return column.show(entry.row);
        const value = column.value(entry.row);
        return h(
          "td",
          { class: column.text ? "text" : null },
          value === null || value === undefined ? "" : String(value),
        );
      }),
    );
    return entry.element;
  }

  function draw() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = content.filter((entry) => wanted.every((word) => entry.text.includes(word)));
    if (sorted !== null) kept.sort(compare);
    body.replaceChildren(...kept.map(element));
    shown.textContent = `${kept.length} of ${rows.length}`;
  }

  draw();
  const table = h(
    "div",
    { class: "scroll" },
    h("table", { id }, h("thead", {}, h("tr", {}, ...heads)), body),
  );
  return h("div", {}, filter ? h("div", { class: "controls" }, words, shown) : null, table);
};
