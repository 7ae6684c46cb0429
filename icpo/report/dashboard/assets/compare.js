"use strict";

icpo.page("compare", async (main) => {
  const { h, index, percent, link, cellLabel } = icpo;
  const cells = index().cells.filter((cell) => cell.has_questions && cell.settings);
  const path = (cell) => `${cell.run}/${cell.name}`;
  if (cells.length < 2)
    return void main.append(h("h1", {}, "Two cells with graded questions are needed for a comparison."));
  const suggested = index().runs.flatMap((run) =>
    run.differences.filter((d) => d.a).map((d) => [`${run.name}/${d.a}`, `${run.name}/${d.b}`]),
  )[0];
  const wanted = icpo.params();
  const find = (name) => cells.find((cell) => path(cell) === name);
  const a = find(wanted.get("a")) ?? find(suggested?.[0]) ?? cells[0];
  const partners = cells.filter((cell) => cell !== a && cell.settings.benchmark === a.settings.benchmark);
  const b =
    partners.find((cell) => path(cell) === wanted.get("b")) ??
    partners.find((cell) => path(cell) === suggested?.[1]) ??
    partners.find((cell) => cell.settings.is_base) ??
    partners[0];
  const metric = index().metrics.includes(wanted.get("metric")) ? wanted.get("metric") : "mean_at_k";
  const show = wanted.get("show") ?? "all";
  const go = (changes) => {
    location.hash = new URLSearchParams({ a: path(a), b: b ? path(b) : "", metric, show, ...changes });
  };
  const option = (cell) => [
    path(cell),
    `${cell.settings.benchmark}: ${cell.run} · ${cell.settings.backbone} · ${cellLabel(cell)} · ${cell.settings.protocol}`,
  ];
  main.append(
    h("h1", {}, "Question by question"),
    h(
      "div",
      { class: "controls" },
      icpo.select("A", cells.map(option), path(a), (value) => go({ a: value })),
      icpo.select("minus B", partners.map(option), b ? path(b) : "", (value) => go({ b: value })),
      icpo.select(
        "metric",
        index().metrics.map((name) => [name, name]),
        metric,
        (value) => go({ metric: value }),
      ),
    ),
  );
  if (!b) return void main.append(h("p", {}, `No other cell has questions of ${a.settings.benchmark}.`));

  const [dataA, dataB] = await Promise.all([icpo.need(`cells/${a.id}`), icpo.need(`cells/${b.id}`)]);
  const pairs = icpo.statistics.pairs(dataA, dataB, metric);
  if (!pairs.length) return void main.append(h("p", {}, "The two cells share no question and seed."));
  const gained = pairs.filter((pair) => pair.difference > 0);
  const lost = pairs.filter((pair) => pair.difference < 0);
  const [value, low, high] = icpo.statistics.clustered(pairs.map((pair) => pair.differences));
  const card = (title, text, id) => h("div", { class: "card", id }, h("span", {}, title), h("b", {}, text));
  const p = icpo.statistics.signTest(gained.length, lost.length);
  main.append(
    h(
      "div",
      { class: "cards" },
      card("A minus B", `${percent(value, true)} points`, "difference"),
      card("95% interval, paired", `${percent(low, true)} to ${percent(high, true)}`, "interval"),
      card("A gained", `${gained.length} questions`, "gained"),
      card("A lost", `${lost.length} questions`, "lost"),
      card("unchanged", `${pairs.length - gained.length - lost.length} questions`),
      card("sign test", `p = ${p < 0.001 ? p.toExponential(1) : p.toFixed(3)}`, "sign-test"),
    ),
  );
  main.append(
    icpo.chart({
      data: {
        values: [...pairs]
          .sort((x, y) => y.difference - x.difference)
          .map((pair, i) => ({ rank: i + 1, question: pair.id, difference: 100 * pair.difference })),
      },
      height: 180,
      mark: { type: "bar" },
      encoding: {
        x: {
          field: "rank",
          type: "ordinal",
          title: "questions, by difference",
          axis: { labels: false, ticks: false },
        },
        y: { field: "difference", type: "quantitative", title: "A minus B (points)" },
        color: { condition: { test: "datum.difference < 0", value: "#d05050" }, value: "#43a563" },
        tooltip: [{ field: "question" }, { field: "difference", format: "+.1f" }],
      },
    }),
  );
  const kinds = { all: pairs, gained, lost };
  main.append(
    h(
      "div",
      { class: "controls" },
      ...Object.entries(kinds).map(([name, rows]) =>
        h(
          "button",
          { type: "button", "aria-pressed": String(name === show), onclick: () => go({ show: name }) },
          `${name} (${rows.length})`,
        ),
      ),
    ),
  );
  const at = (cell, pair) => link("question", { cell: path(cell), question: pair.id, seed: pair.seed });
  const seeds = (question) => Object.values(question.seeds)[0].answer ?? null;
  const linked = (cell, question, pair, share) =>
    h("td", {}, question.file ? h("a", { href: at(cell, pair) }, percent(share)) : percent(share));
  const columns = [
    { name: "question", text: true, value: (pair) => pair.id },
    {
      name: "text",
      text: true,
      value: (pair) => pair.text,
      show: (pair) =>
        h("td", { class: "text wrap" }, pair.text.length > 160 ? `${pair.text.slice(0, 160)}…` : pair.text),
    },
    { name: "gold", text: true, value: (pair) => pair.gold },
    { name: "A", value: (pair) => pair.a, show: (pair) => linked(a, pair.question, pair, pair.a) },
    { name: "B", value: (pair) => pair.b, show: (pair) => linked(b, pair.other, pair, pair.b) },
    {
      name: "A − B",
      value: (pair) => pair.difference,
      show: (pair) =>
        h(
          "td",
          { class: pair.difference > 0 ? "up" : pair.difference < 0 ? "down" : null },
          percent(pair.difference, true),
        ),
    },
    { name: "A's majority", text: true, value: (pair) => seeds(pair.question) },
    { name: "B's majority", text: true, value: (pair) => seeds(pair.other) },
  ];
  main.append(icpo.sortable(columns, kinds[show] ?? pairs, { id: "pairs" }));
});
