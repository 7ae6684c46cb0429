"use strict";

icpo.page("index", (main) => {
  const { h, index, estimate, percent, count, link } = icpo;
  const { runs, cells, metrics } = index();
  const scored = cells.filter((cell) => cell.settings);
  const metric = metrics.includes(icpo.params().get("metric")) ? icpo.params().get("metric") : "mean_at_k";
  main.append(h("h1", {}, runs.map((run) => run.name).join(", ")), ...problems());
  main.append(
    h(
      "div",
      { class: "controls", role: "group", "aria-label": "metric" },
      ...metrics.map((name) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(name === metric),
            onclick: () => {
              location.hash = `metric=${name}`;
            },
          },
          icpo.metricNames[name],
        ),
      ),
    ),
  );
  for (const run of runs) {
    for (const section of run.sections)
      main.append(
        h(
          "h2",
          {},
          `${run.name}: ${section.metric_names[metric]} (%), ${section.backbone}, protocol ${section.protocol}`,
        ),
        scoreTable(section),
        bars(section),
      );
    if (run.differences.length)
      main.append(h("h2", {}, `${run.name}: what is gained over the base`), gains(run));
    if (run.paper.length) main.append(h("h2", {}, `${run.name}: beside the paper`), paper(run));
  }
  if (scored.length) main.append(h("h2", {}, "All cells"), icpo.cellTable(scored, metrics));
  const others = cells.filter((cell) => cell.numbers);
  if (others.length) main.append(h("h2", {}, "Cells without scores"), icpo.otherTable(others));

  function problems() {
    const lines = cells
      .filter((cell) => cell.state !== "done")
      .map((cell) => `${cell.run}/${cell.name} is ${cell.state}${cell.reason ? `: ${cell.reason}` : ""}`);
    lines.push(...runs.flatMap((run) => run.notes));
    return lines.length
      ? [
          h(
            "div",
            { class: "problems", id: "problems" },
            h("b", {}, "Not everything is in these tables:"),
            h("ul", {}, ...lines.map((line) => h("li", {}, line))),
          ),
        ]
      : [];
  }

  function scoreTable(section) {
    const head = h("tr", {}, h("th"), ...section.benchmarks.map((b) => h("th", { scope: "col" }, b)));
    const rows = section.lines.map((line) =>
      h(
        "tr",
        {},
        h("td", {}, line.label),
        ...section.benchmarks.map((b) => estimate(line.estimates[b]?.[metric], line.is_difference)),
      ),
    );
    return h(
      "div",
      { class: "scroll" },
      h("table", { class: "scores" }, h("thead", {}, head), h("tbody", {}, ...rows)),
    );
  }

  function bars(section) {
    const values = section.lines
      .filter((line) => !line.is_difference)
      .flatMap((line) =>
        Object.entries(line.estimates).map(([benchmark, found]) => {
          const [value, low, high] = found[metric].map((x) => 100 * x);
          return { line: line.label, benchmark, value, low, high };
        }),
      );
    const place = {
      x: {
        field: "benchmark",
        type: "nominal",
        title: null,
        axis: { labelAngle: 0 },
        sort: section.benchmarks,
      },
      xOffset: { field: "line", sort: null },
    };
    return icpo.chart(
      {
        data: { values },
        height: 220,
        encoding: place,
        layer: [
          {
            mark: { type: "bar" },
            encoding: {
              y: { field: "value", type: "quantitative", title: "%", scale: { domain: [0, 100] } },
              color: { field: "line", type: "nominal", title: null, sort: null },
              tooltip: [
                { field: "line", title: "method" },
                { field: "value", format: ".1f" },
                { field: "low", format: ".1f" },
                { field: "high", format: ".1f" },
              ],
            },
          },
          {
            mark: { type: "rule", strokeWidth: 1.5, color: "#888" },
            encoding: { y: { field: "low", type: "quantitative" }, y2: { field: "high" } },
          },
        ],
      },
      { maxWidth: 120 + 220 * section.benchmarks.length },
    );
  }

  function gains(run) {
    const columns = [
      { name: "benchmark", text: true, value: (d) => d.benchmark },
      {
        name: "method",
        text: true,
        value: (d) => `${d.arm_label} − ${d.base_label}`,
        show: (d) =>
          h(
            "td",
            { class: "text" },
            d.a
              ? h(
                  "a",
                  { href: link("compare", { a: `${run.name}/${d.a}`, b: `${run.name}/${d.b}`, metric }) },
                  `${d.arm_label} − ${d.base_label}`,
                )
              : `${d.arm_label} − ${d.base_label}`,
          ),
      },
      {
        name: "difference",
        value: (d) => d.metrics[metric][0],
        show: (d) => estimate(d.metrics[metric], true),
      },
      {
        name: "majority corrected",
        value: (d) => d.corrected,
        show: (d) => h("td", {}, d.corrected?.toFixed(1) ?? ""),
      },
      {
        name: "majority broken",
        value: (d) => d.broken,
        show: (d) => h("td", {}, d.broken?.toFixed(1) ?? ""),
      },
      {
        name: "Mean@k − base Maj@k",
        value: (d) => d.over_majority?.[0] ?? null,
        show: (d) => estimate(d.over_majority, true),
      },
      { name: "copy rate", value: (d) => d.copy_rate, show: (d) => h("td", {}, percent(d.copy_rate)) },
      {
        name: "tag accuracy",
        value: (d) => d.tag_accuracy,
        show: (d) => h("td", {}, percent(d.tag_accuracy)),
      },
      { name: "questions", value: (d) => d.num_questions },
    ];
    return icpo.sortable(columns, run.differences, { id: "gains", filter: false });
  }

  function paper(run) {
    const columns = [
      ...["backbone", "benchmark", "method", "metric"].map((name) => ({
        name,
        text: true,
        value: (row) => row[name],
      })),
      { name: "paper", value: (row) => row.paper, show: (row) => h("td", {}, percent(row.paper)) },
      { name: "ours", value: (row) => row.ours?.[0] ?? null, show: (row) => estimate(row.ours) },
      { name: "verdict", text: true, value: (row) => row.verdict },
    ];
    return icpo.sortable(columns, run.paper, { id: "paper" });
  }
});
