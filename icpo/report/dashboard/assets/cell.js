"use strict";

icpo.page("cell", async (main) => {
  const { h, percent, link, count } = icpo;
  const name = icpo.params().get("cell") ?? "";
  const cell = icpo.index().cells.find((c) => `${c.run}/${c.name}` === name);
  if (!cell?.has_questions)
    return void main.append(h("h1", {}, `There is no cell ${name} with questions here.`));
  const { questions } = await icpo.need(`cells/${cell.id}`);
  const average = (question, field) => {
    const values = Object.values(question.seeds)
      .map((seed) => seed[field])
      .filter((value) => typeof value === "number");
    return values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
  };
  const bits = (question) =>
    Object.values(question.seeds)[0]
      .bits.map((b) => (b === null ? "–" : b.toFixed(2)))
      .join(" → ");
  const share = (field, title) => ({
    name: title,
    value: (q) => average(q, field),
    show: (q) => h("td", {}, percent(average(q, field))),
  });
  const columns = [
    {
      name: "question",
      text: true,
      value: (q) => q.id,
      show: (q) =>
        h(
          "td",
          { class: "text" },
          q.file ? h("a", { href: link("question", { cell: name, question: q.id }) }, q.id) : q.id,
        ),
    },
    {
      name: "text",
      text: true,
      value: (q) => q.text,
      show: (q) => h("td", { class: "text wrap" }, q.text.length > 160 ? `${q.text.slice(0, 160)}…` : q.text),
    },
    { name: "gold", text: true, value: (q) => q.gold },
    { name: "majority answer", text: true, value: (q) => Object.values(q.seeds)[0].answer ?? null },
    share("mean_at_k", "Mean@k"),
    share("accuracy", "Accuracy"),
    share("majority_at_k", "Maj@k"),
    { name: "entropy kept, by round (bits)", text: true, value: bits },
    {
      name: "tokens",
      value: (q) => average(q, "tokens"),
      show: (q) => h("td", {}, count(average(q, "tokens"))),
    },
  ];
  main.append(
    h("h1", {}, cell.name),
    h(
      "p",
      { class: "faint" },
      `Run ${cell.run}. Averages over ${cell.settings ? cell.settings.seeds.length : "all"} seeds; a question's page shows one seed, round by round.`,
    ),
  );
  main.append(icpo.sortable(columns, questions, { id: "questions" }));
});
