"use strict";

icpo.metricNames = { mean_at_k: "Mean@k", accuracy: "Accuracy", majority_at_k: "Maj@k", pass_at_k: "pass@k" };

/** A cell's name, which leads to its questions where it has some. */
icpo.cellName = function cellName(cell) {
  const href = icpo.link("cell", { cell: `${cell.run}/${cell.name}` });
  return icpo.h("td", { class: "text" }, cell.has_questions ? icpo.h("a", { href }, cell.name) : cell.name);
};

/** All cells with scores: settings, metrics and costs, and whichever keys of the configuration are asked for. */
icpo.cellTable = function cellTable(cells, metrics) {
  const { h } = icpo;
  const columns = [...settingColumns(), ...metrics.map(scoreColumn), ...costColumns()];
  const keys = [...new Set(cells.flatMap((cell) => Object.keys(cell.config)))].sort();
  const chosen = new Set();
  const holder = h("div");
  const draw = () => {
    const added = [...chosen].map((key) => ({
      name: key,
      text: true,
      value: (cell) => plain(cell.config[key]),
    }));
    holder.replaceChildren(icpo.sortable([...columns, ...added], cells, { id: "cells" }));
  };
  const options = [["", "…"], ...keys.map((key) => [key, key])];
  const add = icpo.select("add a column of the configuration", options, "", (key) => {
    if (key) chosen.add(key);
    draw();
  });
  draw();
  return h("div", {}, keys.length ? h("div", { class: "controls" }, add) : null, holder);

  function settingColumns() {
    const texts = ["backbone", "benchmark", "method", "reward", "selector", "protocol"];
    const numbers = ["num_rounds", "num_candidates", "num_lookaheads", "num_questions"];
    const name = {
      name: "cell",
      text: true,
      value: (cell) => cell.name,
      show: icpo.cellName,
    };
    return [
      name,
      { name: "run", text: true, value: (cell) => cell.run },
      ...texts.map((key) => ({ name: key, text: true, value: (cell) => cell.settings[key] })),
      ...numbers.map((key) => ({ name: key.replace("num_", ""), value: (cell) => cell.settings[key] })),
      { name: "seeds", value: (cell) => cell.settings.seeds.length },
    ];
  }

  function scoreColumn(metric) {
    return {
      name: icpo.metricNames[metric],
      value: (cell) => cell.metrics[metric][0],
      show: (cell) => icpo.estimate(cell.metrics[metric]),
    };
  }

  function costColumns() {
    const unparsed = (cell) => cell.costs.num_unparsed / cell.costs.num_answers;
    const tokens = (cell) => cell.costs.generated_tokens / icpo.numAsked(cell);
    const seconds = (cell) => cell.costs.wall_seconds ?? null;
    return [
      { name: "unparsed", value: unparsed, show: (cell) => h("td", {}, icpo.percent(unparsed(cell))) },
      { name: "tokens/question", value: tokens, show: (cell) => h("td", {}, icpo.count(tokens(cell))) },
      { name: "seconds", value: seconds, show: (cell) => h("td", {}, icpo.count(seconds(cell))) },
      { name: "state", text: true, value: (cell) => cell.state },
    ];
  }

  function plain(value) {
    return value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value);
  }
};

/** Cells without scores (theory, training, questions without a gold answer) with the numbers that they stored. */
icpo.otherTable = function otherTable(cells) {
  const short = (value) => (typeof value === "number" ? +value.toPrecision(4) : value);
  const numbers = (cell) =>
    Object.entries(cell.numbers)
      .map(([name, value]) => `${name} ${short(value)}`)
      .join(", ");
  const columns = [
    { name: "cell", text: true, value: (cell) => cell.name, show: icpo.cellName },
    ...["run", "state"].map((key) => ({ name: key, text: true, value: (cell) => cell[key] })),
    {
      name: "numbers",
      text: true,
      value: numbers,
      show: (cell) => icpo.h("td", { class: "text wrap" }, numbers(cell)),
    },
  ];
  return icpo.sortable(columns, cells, { id: "others" });
};
