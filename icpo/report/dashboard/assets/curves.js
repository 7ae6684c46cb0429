"use strict";

icpo.page("curves", (main) => {
  const { h, index, cellLabel, params } = icpo;
  const scored = index().cells.filter((cell) => cell.settings);
  const groups = [
    ...new Set(
      scored.map(
        (cell) => `${cell.settings.backbone}, ${cell.settings.benchmark}, ${cell.settings.protocol}`,
      ),
    ),
  ].sort();
  if (!groups.length) return void main.append(h("h1", {}, "No cell has scores yet."));
  const group = groups.includes(params().get("of")) ? params().get("of") : groups[0];
  const cells = scored.filter(
    (cell) => `${cell.settings.backbone}, ${cell.settings.benchmark}, ${cell.settings.protocol}` === group,
  );
  const label = (cell) => (index().runs.length > 1 ? `${cell.run}: ` : "") + cellLabel(cell);
  main.append(
    h("h1", {}, "Curves"),
    h(
      "div",
      { class: "controls" },
      icpo.select(
        "backbone, benchmark, protocol",
        groups.map((g) => [g, g]),
        group,
        (value) => {
          location.hash = new URLSearchParams({ of: value });
        },
      ),
    ),
  );

  const mean = cells.flatMap((cell) => [
    ...cell.by_round
      .map((round) => ({ x: round.round - 1, value: 100 * round.mean_at_k, line: label(cell) }))
      .filter((point) => !cell.after.some((after) => after.num_rounds === point.x)),
    ...cell.after.map((after) => {
      const [value, low, high] = after.metrics.mean_at_k.map((v) => 100 * v);
      return { x: after.num_rounds ?? 0, value, low, high, line: label(cell) };
    }),
  ]);
  main.append(
    h("h2", {}, "Mean@k by rounds done"),
    h(
      "p",
      { class: "faint" },
      "With a 95% interval: the finals drawn after that many rounds. Without: the candidates drawn with that many rounds in the history.",
    ),
  );
  main.append(icpo.chart(icpo.lines(mean, "rounds done", "Mean@k (%)"), { id: "mean-by-round" }));

  const entropy = cells.flatMap((cell) =>
    cell.by_round.flatMap((round) =>
      [
        ["kept", round.kept_entropy_bits],
        ["all", round.entropy_bits],
      ]
        .filter(([, bits]) => bits !== null)
        .map(([which, bits]) => ({ x: round.round, value: bits, line: label(cell), attempts: which })),
    ),
  );
  if (entropy.length) {
    main.append(
      h("h2", {}, "Look-ahead entropy by round"),
      h(
        "p",
        { class: "faint" },
        "Mean over questions and seeds, in bits: of all attempts, and of those that were kept.",
      ),
    );
    main.append(
      icpo.chart(icpo.lines(entropy, "round", "entropy (bits)", { dash: "attempts" }), {
        id: "entropy-by-round",
      }),
    );
  }

  const cost = cells
    .map((cell) => {
      const [value, low, high] = cell.metrics.accuracy.map((v) => 100 * v);
      return {
        x: cell.costs.generated_tokens / icpo.numAsked(cell),
        value,
        low,
        high,
        line: label(cell),
      };
    })
    .filter((point) => point.x > 0);
  main.append(h("h2", {}, "Accuracy against tokens"));
  main.append(
    icpo.chart(
      {
        data: { values: cost },
        height: 240,
        encoding: {
          x: {
            field: "x",
            type: "quantitative",
            scale: { type: "log" },
            title: "generated tokens per question (log scale)",
          },
          color: { field: "line", type: "nominal", title: null },
        },
        layer: [
          {
            mark: { type: "rule" },
            encoding: {
              y: { field: "low", type: "quantitative", title: "Accuracy (%)" },
              y2: { field: "high" },
            },
          },
          {
            mark: { type: "point", filled: true, size: 90 },
            encoding: {
              y: { field: "value", type: "quantitative" },
              tooltip: [
                { field: "line", title: "cell" },
                { field: "x", title: "tokens", format: ",.0f" },
                { field: "value", title: "Accuracy", format: ".1f" },
              ],
            },
          },
        ],
      },
      { id: "accuracy-by-tokens" },
    ),
  );

  const grid = cells
    .filter((cell) => !cell.settings.is_base && cell.settings.num_candidates)
    .flatMap((cell) =>
      cell.after.map((after) => ({
        n: after.num_rounds,
        k: cell.settings.num_candidates,
        value: 100 * after.metrics.mean_at_k[0],
        line: `${cell.settings.reward}, ${cell.settings.selector}`,
      })),
    );
  if (new Set(grid.map((point) => `${point.n} ${point.k}`)).size > 1) {
    const place = {
      x: { field: "k", type: "ordinal", title: "candidates k", axis: { labelAngle: 0 } },
      y: { field: "n", type: "ordinal", title: "rounds n", sort: "descending" },
    };
    main.append(h("h2", {}, "Mean@k by rounds and candidates"));
    for (const line of [...new Set(grid.map((point) => point.line))]) {
      main.append(
        h("p", { class: "faint" }, `Reward and selector: ${line}.`),
        icpo.chart(
          {
            data: { values: grid.filter((point) => point.line === line) },
            height: 46 * new Set(grid.map((point) => point.n)).size,
            encoding: place,
            layer: [
              {
                mark: "rect",
                encoding: {
                  color: {
                    aggregate: "mean",
                    field: "value",
                    type: "quantitative",
                    title: "Mean@k (%)",
                    scale: { scheme: "blues" },
                    legend: { orient: "right" },
                  },
                },
              },
              {
                mark: { type: "text", fontWeight: 600 },
                encoding: {
                  text: { aggregate: "mean", field: "value", format: ".1f" },
                  color: { value: "#111" },
                },
              },
            ],
          },
          { id: "heat-map" },
        ),
      );
    }
  }
});
