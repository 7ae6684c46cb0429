"use strict";

icpo.page("costs", (main) => {
  const { h, index, count, cellLabel, numAsked } = icpo;
  const cells = index().cells.filter((cell) => cell.settings);
  const per = (title, field) => ({
    name: title,
    value: (cell) => (cell.costs[field] ?? 0) / numAsked(cell),
    show: (cell) => h("td", {}, count((cell.costs[field] ?? 0) / numAsked(cell))),
  });
  const total = (title, field) => ({
    name: title,
    value: (cell) => cell.costs[field] ?? null,
    show: (cell) => h("td", {}, count(cell.costs[field])),
  });
  main.append(
    h("h1", {}, "Costs"),
    h(
      "p",
      { class: "faint" },
      "Per question and seed where it says so. A prompt is counted once a request, as its samples share one prefill.",
    ),
  );
  main.append(
    icpo.sortable(
      [
        { name: "cell", text: true, value: (cell) => cell.name },
        { name: "run", text: true, value: (cell) => cell.run },
        per("requests / question", "num_requests"),
        per("prompt tokens / question", "prompt_tokens"),
        per("generated tokens / question", "generated_tokens"),
        {
          name: "seconds / question",
          value: (cell) => (cell.costs.wall_seconds ?? 0) / numAsked(cell),
          show: (cell) => h("td", {}, ((cell.costs.wall_seconds ?? 0) / numAsked(cell)).toFixed(2)),
        },
        {
          name: "generated tokens / second",
          value: (cell) =>
            cell.costs.wall_seconds ? cell.costs.generated_tokens / cell.costs.wall_seconds : null,
          show: (cell) =>
            h(
              "td",
              {},
              cell.costs.wall_seconds ? count(cell.costs.generated_tokens / cell.costs.wall_seconds) : "",
            ),
        },
        total("generated tokens", "generated_tokens"),
        total("cached prompt tokens", "cached_prompt_tokens"),
        total("seconds", "wall_seconds"),
        total("unparsed", "num_unparsed"),
        total("truncated", "num_truncated"),
        total("timed out", "num_timed_out"),
      ],
      cells,
      { id: "costs" },
    ),
  );
  const groups = new Map();
  for (const cell of cells) {
    const line = `${cell.settings.backbone}, ${cellLabel(cell)}, ${cell.settings.protocol}`;
    for (const [purpose, tokens] of Object.entries(cell.costs.generated_by_purpose ?? {})) {
      const key = JSON.stringify([line, purpose]);
      const sum = groups.get(key) ?? { line, purpose, tokens: 0, asked: 0 };
      groups.set(key, { ...sum, tokens: sum.tokens + tokens, asked: sum.asked + numAsked(cell) });
    }
  }
  main.append(h("h2", {}, "Generated tokens per question, by what they are for"));
  main.append(
    icpo.chart(
      {
        data: {
          values: [...groups.values()].map((group) => ({ ...group, value: group.tokens / group.asked })),
        },
        height: 30 * new Set([...groups.values()].map((group) => group.line)).size,
        mark: "bar",
        encoding: {
          y: { field: "line", type: "nominal", title: null, axis: { labelLimit: 420 } },
          x: { field: "value", type: "quantitative", title: "generated tokens per question", stack: true },
          color: { field: "purpose", type: "nominal", title: null },
          tooltip: [
            { field: "line", title: "cells" },
            { field: "purpose" },
            { field: "value", title: "tokens", format: ",.0f" },
          ],
        },
      },
      { id: "tokens-by-purpose" },
    ),
  );
});
